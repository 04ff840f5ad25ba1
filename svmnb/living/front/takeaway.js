// ---- what a reader takes out of the page, and brings into it.
const Takeaway = {
  png() {
    const canvas = document.createElement('canvas'), k = 2;
    canvas.width = this.width * k;
    canvas.height = (this.height + 46) * k;
    const ctx = canvas.getContext('2d'), pen = canvasPen(ctx);
    ctx.scale(k, k);
    ctx.fillStyle = this.colours.page;
    ctx.fillRect(0, 0, this.width, this.height + 46);
    this.above(pen);
    ctx.translate(0, 46);
    this.scene(pen);
    this.pointsWith(pen);
    return new Promise(ok => canvas.toBlob(ok, 'image/png'));
  },
  download(kind, blob) {
    blob.then(data => {
      const a = document.createElement('a');
      a.href = w.URL.createObjectURL(data);
      a.download = 'svmnb-' + this.state.spec.name + '.' + kind;
      a.click();
      w.setTimeout(() => w.URL.revokeObjectURL(a.href), 10000);
    });
  },
  copy(text, button) {
    const said = button.textContent, done = ok => { button.textContent = ok ? 'Copied' : 'Select the text below'; w.setTimeout(() => { button.textContent = said; }, 1500); };
    if (!navigator.clipboard) return done(false);
    navigator.clipboard.writeText(text).then(() => done(true), () => done(false));
  },
  pin() { // this picture stays beside the figure, to compare two settings
    const box = make(this.beside, 'div', { class: 'pinned' }), text = this.title_.textContent + '. ' + this.sub.textContent;
    this.beside.hidden = false;
    this.resize(); // both get one size
    const img = make(box, 'img', { alt: text }), state = address(this.state), show = () => { img.src = 'data:image/svg+xml,' + encodeURIComponent(this.picture()); };
    show();
    // In the new size the picture shows another part of the plane, which comes with the next answer.
    if (this.busy()) this.addEventListener('svmnb-rest', () => { if (address(this.state) === state) show(); }, { once: true });
    make(box, 'p', {}, this.proof.textContent);
    this.button(box, 'Remove', 'Remove this picture', () => {
      box.remove();
      this.beside.hidden = !this.beside.childElementCount;
    });
  },
  paste(text) {
    const rows = text.trim().split(/\r?\n/).map(l => l.split(/[,;\t]/).map(v => v.trim())).filter(r => r.length > 1);
    if (rows.length && isNaN(parseFloat(rows[0][0]))) rows.shift();
    const wrong = (i, why) => this.take({ error: 'Line ' + (i + 1) + ': ' + why });
    if (rows.length < 2) return wrong(0, 'a figure needs at least two points.');
    if (rows.length > 1000) return wrong(1000, 'a figure takes at most 1000 points.');
    const d = rows[0].length - 1, classes = [], x = [], y = [];
    if (d < 1 || d > 2) return wrong(0, 'give two or three columns.');
    for (let i = 0; i < rows.length; i++) {
      const r = rows[i];
      if (r.length !== d + 1) return wrong(i, 'it has ' + several(r.length, 'column') + ', the first has ' + (d + 1) + '.');
      for (let j = 0; j < d + (d < 2); j++) if (r[j] === '' || !isFinite(r[j])) return wrong(i, JSON.stringify(r[j]) + ' is not a number.');
      if (d > 1) {
        if (!classes.includes(r[2])) classes.push(r[2]);
        if (classes.length > 8) return wrong(i, 'there are more than eight classes.');
      }
      for (let j = 0; j < d; j++) x.push(+r[j]);
      y.push(d > 1 ? classes.indexOf(r[2]) : +r[1]);
    }
    if (d > 1 && classes.length < 2) return wrong(0, 'there is one class only; a machine needs two.');
    if (classes.length === 2) for (let i = 0; i < y.length; i++) y[i] = 2 * y[i] - 1;
    let mean = 0, square = 0;
    x.forEach(v => { mean += v / x.length; });
    x.forEach(v => { square += (v - mean) * (v - mean) / x.length; });
    const gamma = digits(1 / (d * (square || 1)), 3);
    this.load(start(specOf({ name: 'pasted', label: 'pasted points', task: d > 1 ? 'classify' : 'regress', d: d, data: encode(new Uint8Array(w.Float64Array.from(x.concat(y)).buffer)), c: 10, epsilon: 0.1, scheme: classes.length > 2 ? 'pairs' : undefined, classes: classes.length ? classes : ['−1', '+1'], kernels: { first: 'RBF', gamma: gamma } })));
    this.ask();
  }
};
