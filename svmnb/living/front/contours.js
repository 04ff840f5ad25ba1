// ---- contours, as svmnb/internal/contour makes them: rings around {z ≥ t} of a field on an
// even grid, by marching squares. A place is [x, y] in cells of the grid.
function rings(z, nx, ny, t) {
  const W = nx + 2, above = new Uint8Array(W * (ny + 2)), next = new Int32Array(2 * W * (ny + 2)).fill(-1), saddles = new Map();
  let any = false;
  for (let j = 0; j < ny; j++) for (let i = 0; i < nx; i++) if (z[j * nx + i] >= t) any = above[(j + 1) * W + i + 1] = 1;
  if (!any) return [];
  for (let j = 0; j <= ny; j++) for (let i = 0; i <= nx; i++) {
    const k = j * W + i, c = above[k] | above[k + 1] << 1 | above[k + W + 1] << 2 | above[k + W] << 3;
    if (c === 0 || c === 15) continue;
    const bottom = 2 * k, left = 2 * k + 1, top = 2 * (k + W), right = 2 * (k + 1) + 1;
    switch (c) {
      case 1: next[bottom] = left; break;
      case 2: next[right] = bottom; break;
      case 3: next[right] = left; break;
      case 4: next[top] = right; break;
      case 6: next[top] = bottom; break;
      case 7: next[top] = left; break;
      case 8: next[left] = top; break;
      case 9: next[bottom] = top; break;
      case 11: next[right] = top; break;
      case 12: next[left] = right; break;
      case 13: next[bottom] = right; break;
      case 14: next[left] = bottom; break;
      case 5: { // two opposite nodes are above t; the areas around them may be joined
        const s = saddle(z, nx, i, j, t);
        next[bottom] = s.joined ? right : left;
        next[top] = s.joined ? left : right;
        saddles.set(bottom, s.at).set(top, s.at);
        break;
      }
      case 10: {
        const s = saddle(z, nx, i, j, t);
        next[right] = s.joined ? top : bottom;
        next[left] = s.joined ? bottom : top;
        saddles.set(right, s.at).set(left, s.at);
      }
    }
  }
  function crossing(edge) {
    const k = edge >> 1, i = k % W, j = (k - i) / W, i2 = edge & 1 ? i : i + 1, j2 = edge & 1 ? j + 1 : j;
    if (i === 0 || j === 0) return [i2 - 1, j2 - 1];
    if (i2 > nx || j2 > ny) return [i - 1, j - 1];
    const from = z[(j - 1) * nx + i - 1], to = z[(j2 - 1) * nx + i2 - 1], f = (t - from) / (to - from);
    return [i - 1 + f * (i2 - i), j - 1 + f * (j2 - j)];
  }
  const all = [];
  for (let start = 0; start < next.length; start++) {
    if (next[start] < 0) continue;
    const ring = [], add = p => { const q = ring[ring.length - 1]; if (!q || q[0] !== p[0] || q[1] !== p[1]) ring.push(p); };
    for (let e = start; next[e] >= 0;) {
      const at = saddles.get(e), to = next[e];
      add(crossing(e));
      if (at) add(bend(at, crossing(e), crossing(to)));
      next[e] = -1;
      e = to;
    }
    while (ring.length > 1 && ring[0][0] === ring[ring.length - 1][0] && ring[0][1] === ring[ring.length - 1][1]) ring.pop();
    if (ring.length > 2) all.push(ring);
  }
  return all;
}
function saddle(z, nx, i, j, t) {
  const a = z[(j - 1) * nx + i - 1] - t, b = z[(j - 1) * nx + i] - t, c = z[j * nx + i] - t, d = z[j * nx + i - 1] - t;
  const sum = Math.abs(a) + Math.abs(b) + Math.abs(c) + Math.abs(d), value = (a * c - b * d) * (a < 0 || c < 0 ? -1 : 1);
  return { at: [i - 1 + Math.abs(a - d) / sum, j - 1 + Math.abs(a - b) / sum], joined: value >= 0 };
}
function bend(o, p, q) { // the middle of the hyperbola's branch from p to q
  return [0, 1].map(k => o[k] + Math.sign(p[k] - o[k] + (q[k] - o[k])) * Math.sqrt(Math.abs((p[k] - o[k]) * (q[k] - o[k]))));
}
function isolines(list, nx, ny) { // the rings without what runs along the border
  const border = (p, q) => p[0] === q[0] && (p[0] === 0 || p[0] === nx - 1) || p[1] === q[1] && (p[1] === 0 || p[1] === ny - 1), lines = [];
  for (const ring of list) {
    const n = ring.length;
    let first = -1, line = null;
    for (let i = 0; i < n; i++) if (border(ring[i], ring[(i + 1) % n])) first = i;
    if (first < 0) { lines.push(ring.concat([ring[0]])); continue; }
    for (let s = 1; s <= n; s++) {
      const p = ring[(first + s) % n], q = ring[(first + s + 1) % n];
      if (border(p, q)) {
        if (line) lines.push(line);
        line = null;
      } else (line = line || [p]).push(q);
    }
    if (line) lines.push(line);
  }
  return lines;
}
