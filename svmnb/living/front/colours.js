// ---- colours: those of the other figures, for the page behind the element.
const light = { page: '#ffffff', ink: '#1b2733', soft: '#59646e', axis: '#8b95a0', grid: '#e4e8ec', card: '#f4f6f8', line: '#d5dae0', pos: '#dd5f0d', neg: '#1d64ad', bad: '#b00040', accent: '#5a2ca0',
  series0: '#0072b2', series1: '#d55e00', series2: '#009e73', series3: '#a8559a', series4: '#56b4e9', series5: '#b98600', series6: '#59646e', series7: '#b00040' };
const dark = { page: '#181a1b', ink: '#e6eaee', soft: '#a3adb7', axis: '#737e89', grid: '#333a42', card: '#22272c', line: '#3d454e', pos: '#f5984f', neg: '#62aeea', bad: '#ff6f91', accent: '#c09cf0',
  series0: '#56a9e0', series1: '#f0894a', series2: '#2fc19a', series3: '#db8fc3', series4: '#9ad0f5', series5: '#e8b93c', series6: '#a3adb7', series7: '#ff6f91' };
function rgb(css) {
  let m = /^#(..)(..)(..)$/.exec(css);
  if (m) return [parseInt(m[1], 16), parseInt(m[2], 16), parseInt(m[3], 16), 1];
  m = (/^rgba?\(([^)]*)\)/.exec(css) || ['', ''])[1].split(/[\s,/]+/).map(Number);
  return m.length < 3 ? null : [m[0], m[1], m[2], m.length > 3 ? m[3] : 1];
}
function palette(el) {
  let behind = null;
  for (let e = el; e && !behind; e = e.parentElement || (e.getRootNode() || {}).host) {
    const c = rgb(getComputedStyle(e).backgroundColor);
    if (c && c[3] > 0.5) behind = c;
  }
  const ink = rgb(getComputedStyle(el).color) || [0, 0, 0], bright = c => (0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]) / 255;
  const isDark = behind ? bright(behind) < 0.5 : bright(ink) > 0.5;
  return Object.assign({}, isDark ? dark : light, behind ? { page: 'rgb(' + behind.slice(0, 3).join(',') + ')' } : {});
}
function mix(p, name, t) { // a share of a colour, on the page
  const a = rgb(p.page), b = rgb(p[name]);
  if (!a || !b) return 'color-mix(in srgb,' + p[name] + ' ' + +(100 * t).toFixed(1) + '%,' + p.page + ')'; // variables
  return 'rgb(' + [0, 1, 2].map(i => Math.round(a[i] + (b[i] - a[i]) * t)).join(',') + ')';
}
