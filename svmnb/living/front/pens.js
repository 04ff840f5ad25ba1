// ---- pens: what a picture is drawn with, on a canvas or as the text of an SVG.
function canvasPen(ctx) {
  function trace(paths, close) {
    ctx.beginPath();
    for (const p of paths) {
      p.forEach((c, i) => ctx[i ? 'lineTo' : 'moveTo'](c[0], c[1]));
      if (close) ctx.closePath();
    }
  }
  return {
    area: (paths, fill) => { trace(paths, true); ctx.fillStyle = fill; ctx.fill(); },
    line: (paths, stroke, width, dash) => { trace(paths); ctx.strokeStyle = stroke; ctx.lineWidth = width; ctx.lineJoin = 'round'; ctx.setLineDash(dash || []); ctx.stroke(); },
    circle: (x, y, r, fill, stroke, width) => {
      ctx.beginPath();
      ctx.arc(x, y, r, 0, 2 * Math.PI);
      ctx.fillStyle = fill;
      if (fill !== 'none') ctx.fill();
      ctx.strokeStyle = stroke;
      ctx.lineWidth = width;
      ctx.setLineDash([]);
      if (stroke !== 'none') ctx.stroke();
    },
    text: (x, y, s, fill, size, align, turn) => {
      ctx.save();
      ctx.translate(x, y);
      if (turn) ctx.rotate(-Math.PI / 2);
      ctx.font = size + 'px ' + sans;
      ctx.fillStyle = fill;
      ctx.textAlign = { start: 'left', middle: 'center', end: 'right' }[align];
      ctx.fillText(s, 0, 0);
      ctx.restore();
    },
    clip: (x, y, width, height, draw) => { ctx.save(); ctx.beginPath(); ctx.rect(x, y, width, height); ctx.clip(); draw(); ctx.restore(); }
  };
}
function svgPen(prefix) {
  const out = [], f = v => v.toFixed(1).replace(/\.0$/, ''), esc = s => String(s).replace(/[&<>"]/g, c => '&#' + c.charCodeAt(0) + ';');
  const d = (paths, close) => paths.map(p => p.map((c, i) => (i ? 'L' : 'M') + f(c[0]) + ' ' + f(c[1])).join('') + (close ? 'Z' : '')).join('');
  let clips = 0;
  return {
    area: (paths, fill) => out.push('<path d="' + d(paths, true) + '" fill="' + fill + '"/>'),
    line: (paths, stroke, width, dash) => out.push('<path d="' + d(paths) + '" fill="none" stroke="' + stroke + '" stroke-width="' + width + '" stroke-linejoin="round"' + (dash ? ' stroke-dasharray="' + dash.join(' ') + '"' : '') + '/>'),
    circle: (x, y, r, fill, stroke, width) => out.push('<circle cx="' + f(x) + '" cy="' + f(y) + '" r="' + f(r) + '" fill="' + fill + '"' + (width ? ' stroke="' + stroke + '" stroke-width="' + width + '"' : '') + '/>'),
    text: (x, y, s, fill, size, align, turn) => out.push('<text transform="translate(' + f(x) + ' ' + f(y) + ')' + (turn ? ' rotate(-90)' : '') + '" fill="' + fill + '" font-size="' + size + '" text-anchor="' + align + '">' + esc(s) + '</text>'),
    clip: (x, y, width, height, draw) => {
      const id = (prefix || 'c') + ++clips;
      out.push('<clipPath id="' + id + '"><rect x="' + f(x) + '" y="' + f(y) + '" width="' + f(width) + '" height="' + f(height) + '"/></clipPath><g clip-path="url(#' + id + ')">');
      draw();
      out.push('</g>');
    },
    below: (height, draw) => {
      out.push('<g transform="translate(0 ' + height + ')">');
      draw();
      out.push('</g>');
    },
    svg: (width, height, title, background) => '<svg xmlns="' + svgNS + '" width="' + width + '" height="' + height + '" viewBox="0 0 ' + width + ' ' + height + '" role="img" font-family="' + esc(sans) + '"><title>' + esc(title) + '</title><rect width="100%" height="100%" fill="' + background + '"/>' + out.join('\n') + '</svg>'
  };
}
const sans = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
function diamond(x, y, r) { return [[x, y - r], [x + r, y], [x, y + r], [x - r, y]]; }
// symbol returns the outline of the symbol of a class, as figures of several classes have it.
function symbol(k, r) {
  const regular = (n, turn) => Array.from({ length: n }, (_, i) => [r * Math.sin(2 * Math.PI * (i + turn) / n), -r * Math.cos(2 * Math.PI * (i + turn) / n)]), s = 0.88 * r, a = 0.42 * r;
  return [() => regular(24, 0), () => diamond(0, 0, r + 1), () => [[0, -r - 1], [r + 1, r], [-r - 1, r]], () => [[-s, -s], [s, -s], [s, s], [-s, s]],
    () => [[-r - 1, -r], [r + 1, -r], [0, r + 1]], () => regular(6, 0.5), () => regular(8, 0.5), () => [[-a, -r], [a, -r], [a, -a], [r, -a], [r, a], [a, a], [a, r], [-a, r], [-a, a], [-r, a], [-r, -a], [-a, -a]]][k]();
}
function cross(x, y, r) { return [[[x - r, y - r], [x - 0.45 * r, y - 0.45 * r]], [[x + r, y - r], [x + 0.45 * r, y - 0.45 * r]], [[x + r, y + r], [x + 0.45 * r, y + 0.45 * r]], [[x - r, y + r], [x - 0.45 * r, y + 0.45 * r]]]; }
