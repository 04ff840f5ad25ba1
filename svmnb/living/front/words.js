// ---- numbers and words.
function num(v, digits) { // 4 significant digits, a true minus, no trailing zeros
  if (v === null || v === undefined || isNaN(v)) return '–';
  if (!isFinite(v)) return (v < 0 ? '\u2212' : '') + '∞';
  const a = Math.abs(v);
  const s = a !== 0 && (a < 1e-3 || a >= 1e5) ? a.toExponential((digits || 4) - 1).replace(/\.?0+e/, 'e').replace('e+', 'e') : String(+a.toPrecision(digits || 4));
  return (v < 0 ? '\u2212' : '') + s;
}
function go(v) { // as Go's fmt writes a float64
  const m = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(v.toExponential()), e = +m[4];
  if (e < -4 || e >= 6) return m[1] + m[2] + (m[3] ? '.' + m[3] : '') + 'e' + (e < 0 ? '-' : '+') + String(Math.abs(e)).padStart(2, '0');
  return plain(m[1], m[2] + (m[3] || ''), e);
}
function plain(sign, digits, e) {
  if (e < 0) return sign + '0.' + '0'.repeat(-e - 1) + digits;
  if (digits.length <= e + 1) return sign + digits.padEnd(e + 1, '0');
  return sign + digits.slice(0, e + 1) + '.' + digits.slice(e + 1);
}
function digits(v, n) { return v === 0 ? 0 : +v.toPrecision(n); }
function several(n, one, many) { return n + ' ' + (n === 1 ? one : many || one + 's'); }
function decode(text) { // base64 → bytes
  const s = atob(text), b = new Uint8Array(s.length);
  for (let i = 0; i < s.length; i++) b[i] = s.charCodeAt(i);
  return b;
}
function encode(bytes) { // → base64
  let s = '';
  bytes.forEach(b => { s += String.fromCharCode(b); });
  return w.btoa(s);
}
L.encode = encode;
L.decode = decode;
function make(parent, tag, attributes, text) {
  const e = parent.appendChild(document.createElement(tag));
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  if (text !== undefined) e.textContent = text;
  return e;
}
const svgNS = 'http://www.w3.org/2000/svg';
function makeSVG(parent, tag, attributes) {
  const e = parent.appendChild(document.createElementNS(svgNS, tag));
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  return e;
}
