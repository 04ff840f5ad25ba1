(function svmnb(w, packed) {
  'use strict';
  // The drawing side of svmnb's charts: one copy per page under one private
  // name, so that neither RequireJS nor a page's own ECharts is touched. This
  // function travels with the packed library and can give itself back as text.
  var S = w.__svmEcharts = w.__svmEcharts || {};
  if (!S.ready) S.ready = new Promise(function (r) { S.resolve = r; });
  if (S.draw) return;
  var places = new Set(), charts = new WeakMap(), echarts;

  // ---- colours: tokens such as "@pos", "@pos/0.4" (transparent) and
  // "@pos*0.4" (mixed with the page) become what suits the page behind them.
  var light = {
    ink: '#1b2733', soft: '#59646e', axis: '#8b95a0', grid: '#e4e8ec',
    pos: '#dd5f0d', neg: '#1d64ad', bad: '#b00040', strong: '#c0392b',
    heat: ['#fff3d6', '#fdd287', '#f4973c', '#d0442d', '#8d1432', '#4a0a26'],
    series: ['#0072b2', '#d55e00', '#009e73', '#a8559a', '#56b4e9', '#b98600', '#6b6b6b', '#7a3b00', '#d6479a', '#3f3fbf']
  };
  var dark = {
    ink: '#e6eaee', soft: '#a3adb7', axis: '#737e89', grid: '#333a42',
    pos: '#f5984f', neg: '#62aeea', bad: '#ff6f91', strong: '#ff8a65',
    heat: ['#3a1d2b', '#6f1f3a', '#b53440', '#e66a3a', '#f9ae55', '#fff0b5'],
    series: ['#56a9e0', '#f0894a', '#2fc19a', '#db8fc3', '#9ad0f5', '#e8b93c', '#b5b5b5', '#d9a37a', '#f58fc6', '#9a9af5']
  };
  function rgb(css) {
    var m = /^#(..)(..)(..)$/.exec(css);
    if (m) return [parseInt(m[1], 16), parseInt(m[2], 16), parseInt(m[3], 16), 1];
    m = (/^rgba?\(([^)]*)\)/.exec(css) || [, ''])[1].split(/[\s,/]+/).map(Number);
    return m.length < 3 ? null : [m[0], m[1], m[2], m.length > 3 ? m[3] : 1];
  }
  function luminance(c) { return (0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]) / 255; }
  function mix(a, b, t) {
    return 'rgb(' + [0, 1, 2].map(function (i) { return Math.round(a[i] + (b[i] - a[i]) * t); }) + ')';
  }
  var lightPage = [255, 255, 255, 1], darkPage = [24, 26, 27, 1];
  // The page is what is painted behind the element; where nothing is, its text
  // colour tells. (Classic Jupyter is white whatever the system prefers.)
  function backdrop(el) {
    for (var e = el; e; e = e.parentElement) {
      var c = rgb(getComputedStyle(e).backgroundColor);
      if (c && c[3] > 0.5) return c;
    }
    c = rgb(getComputedStyle(el).color);
    return c && luminance(c) > 0.5 ? darkPage : lightPage;
  }
  function palette(page) {
    var isDark = luminance(page) < 0.5, p = isDark ? dark : light;
    function T(s) {
      var m = /^@([a-z]+)(\d*)(?:([\/*])([\d.]+))?$/.exec(s);
      if (!m) return s;
      var c = m[1] === 'page' ? page : m[1] === 'heat' ? rgb(p.heat[0]) : rgb(m[1] === 'series' ? p.series[m[2] - 1] : p[m[1]]);
      if (!c) return s;
      if (m[3] === '/') return 'rgba(' + c.slice(0, 3).concat(m[4]) + ')';
      return mix(page, c, m[3] ? +m[4] : 1);
    }
    T.dark = isDark;
    T.heat = function (t) { // t in [0, 1]
      t = Math.min(Math.max(t, 0), 1) * (p.heat.length - 1);
      var i = Math.min(Math.floor(t), p.heat.length - 2);
      return mix(rgb(p.heat[i]), rgb(p.heat[i + 1]), t - i);
    };
    T.series = p.series;
    return T;
  }
  function theme(T) {
    var axis = {
      axisLine: { lineStyle: { color: T('@axis') } }, axisTick: { lineStyle: { color: T('@axis') } },
      axisLabel: { color: T('@soft') }, nameTextStyle: { color: T('@soft') },
      splitLine: { lineStyle: { color: T('@grid') } }, splitArea: { areaStyle: { color: ['transparent', T('@grid/0.4')] } }
    };
    var text = { textStyle: { color: T('@ink') } };
    return {
      darkMode: T.dark, color: T.series, backgroundColor: 'transparent',
      textStyle: { color: T('@ink'), fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif' },
      title: { textStyle: { color: T('@ink') }, subtextStyle: { color: T('@soft') } },
      legend: { textStyle: { color: T('@ink') }, inactiveColor: T('@axis/0.6'), pageIconColor: T('@soft'), pageTextStyle: { color: T('@soft') } },
      tooltip: { backgroundColor: T('@page'), borderColor: T('@axis'), textStyle: { color: T('@ink') }, axisPointer: { lineStyle: { color: T('@axis') }, crossStyle: { color: T('@axis') } } },
      toolbox: { iconStyle: { borderColor: T('@soft') }, emphasis: { iconStyle: { borderColor: T('@ink') } } },
      categoryAxis: axis, valueAxis: axis, logAxis: axis, timeAxis: axis,
      line: { symbol: 'circle' }, // hollow ones are filled white
      visualMap: text, timeline: { label: { color: T('@soft') } }, calendar: { dayLabel: { color: T('@soft') }, monthLabel: { color: T('@soft') } },
      parallel: { axisLabel: { color: T('@soft') } }, radar: { axisName: { color: T('@soft') }, splitLine: { lineStyle: { color: T('@grid') } } },
      gauge: { title: { color: T('@soft') }, detail: { color: T('@ink') } }
    };
  }

  // ---- tools for the functions in options: svm.…
  function num(v, digits) { // 4 significant digits, true minus, no trailing zeros; many digits as they are read
    if (v === null || v === undefined || isNaN(v)) return '–';
    if (!isFinite(v)) return (v < 0 ? '\u2212' : '') + '∞';
    var a = Math.abs(v), s;
    if (a !== 0 && (a < 1e-3 || a >= (digits > 7 ? 1e9 : 1e5))) s = a.toExponential((digits || 4) - 1).replace(/\.?0+e/, 'e').replace('e+', 'e');
    else s = String(+a.toPrecision(digits || 4));
    return (v < 0 ? '\u2212' : '') + s;
  }
  // Paths are rings or lines of integers, each the step from the one before,
  // in parts of box = {x: [from, to], y: [from, to], n}.
  function trace(box, paths, api, close) {
    var kx = (box.x[1] - box.x[0]) / box.n, ky = (box.y[1] - box.y[0]) / box.n, d = '';
    paths.forEach(function (p) {
      for (var i = 0, x = 0, y = 0; i < p.length; i += 2) {
        var c = api.coord([box.x[0] + (x += p[i]) * kx, box.y[0] + (y += p[i + 1]) * ky]);
        d += (i ? 'L' : 'M') + c[0].toFixed(1) + ' ' + c[1].toFixed(1);
      }
      if (close) d += 'Z';
    });
    return d;
  }
  function tools(T) {
    return {
      num: num, heat: T.heat, dark: T.dark,
      // on returns the colour of a text on this colour: that which differs more from it.
      on: function (fill) {
        function light(css) {
          var c = rgb(T(css)).slice(0, 3).map(function (v) { v /= 255; return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); });
          return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2] + 0.05;
        }
        function contrast(css) { var a = light(css), b = light(fill); return Math.max(a, b) / Math.min(a, b); }
        return T(contrast('@ink') >= contrast('@page') ? '@ink' : '@page');
      },
      save: function (chart, kind, name) { save(chart, T, kind, name); },
      // areas([{color, paths}], box): filled nested sets, each over the one before.
      areas: function (levels, box) {
        return function (params, api) {
          return { type: 'group', silent: true, children: levels.map(function (l) {
            return { type: 'path', shape: { pathData: trace(box, l.paths, api, true) }, style: { fill: T(l.color) }, silent: true };
          }) };
        };
      },
      // lines(paths, box, style): open and closed lines.
      lines: function (paths, box, style) {
        return function (params, api) {
          return { type: 'path', shape: { pathData: trace(box, paths, api) }, silent: true,
            style: Object.assign({ fill: 'none', lineWidth: 2, lineJoin: 'round' }, style, { stroke: T(style.stroke) }) };
        };
      },
      // band(x, lower, upper, color, edge): the area between two lines, which
      // are drawn where edge is a style.
      band: function (x, lower, upper, color, edge) {
        return function (params, api) {
          var side = function (y) { return x.map(function (v, i) { return api.coord([v, y[i]]); }); };
          var up = side(upper), down = side(lower);
          var out = [{ type: 'polygon', shape: { points: up.concat(down.slice().reverse()) }, style: { fill: T(color) }, silent: true }];
          if (edge) [up, down].forEach(function (p) {
            out.push({ type: 'polyline', shape: { points: p }, style: Object.assign({ fill: 'none' }, edge, { stroke: T(edge.stroke) }), silent: true });
          });
          return { type: 'group', silent: true, children: out };
        };
      }
    };
  }
  // Strings marked as functions are compiled and, under the keys of colours,
  // tokens resolved, in place.
  function resolve(o, scope, path, colours) {
    Object.keys(o).forEach(function (k) {
      var v = o[k], at = path + (Array.isArray(o) ? '[' + k + ']' : (path ? '.' : '') + k);
      var colour = Array.isArray(o) ? colours : /colou?r$|^(fill|stroke)$/i.test(k);
      if (typeof v === 'string') {
        if (v.slice(0, 5) === '__f__') {
          try {
            o[k] = Function('svm', 'T', 'O', 'echarts', 'chart', 'return (' + v.replace(/^__f__|__f__$/g, '').replace(/%MY_ECHARTS%/g, 'chart()') + '\n)')
              .apply(null, scope);
          } catch (e) {
            throw new Error('the function at ' + at + ' fails (' + e.message + '). go-echarts joins the lines of a function: write /* … */ instead of // …');
          }
        } else if (colour && v[0] === '@') o[k] = scope[1](v);
      } else if (v && typeof v === 'object' && typeof v[0] !== 'number') resolve(v, scope, at, colour);
    });
  }
  // The chart as it stands, zoomed and chosen from, as a file: drawn again where nobody
  // sees it, since what draws in the page makes one of the two kinds only.
  function save(chart, T, kind, name) {
    var copy = echarts.init(document.createElement('div'), theme(T), { renderer: kind === 'svg' ? 'svg' : 'canvas', width: chart.getWidth(), height: chart.getHeight() });
    var a = document.createElement('a'), opt = chart.getOption();
    opt.animation = false;
    opt.toolbox = { show: false };
    copy.setOption(opt);
    a.href = copy.getDataURL({ type: kind, pixelRatio: 2, backgroundColor: T('@page') });
    a.download = name + '.' + kind;
    copy.dispose();
    a.click();
  }
  function size(o) { // how many elements there will be, roughly
    return [].concat(o.series || []).reduce(function (n, s) { return n + (s && s.data && s.data.length || 0); }, 0) +
      [].concat(o.dataset || []).reduce(function (n, d) { return n + (d && d.source && d.source.length || 0); }, 0);
  }

  // A chart of the option, and of more options over it, in an element or in none.
  function start(el, option, T, how, more) {
    var opt = JSON.parse(JSON.stringify(option)), chart = null;
    resolve(opt, [tools(T), T, opt, echarts, function () { return chart; }], '', false);
    chart = echarts.init(el, theme(T), how(opt));
    try {
      [opt].concat(more || []).forEach(function (o, i, all) { chart.setOption(o, { lazyUpdate: i < all.length - 1 }); });
    } catch (e) { chart.dispose(); throw e; }
    return { chart: chart, opt: opt };
  }
  // Title and legend flow down the page however many lines they need; the
  // figure's layout function puts the rest below and says how high it all is.
  // A figure without one keeps its height, and fit says nothing; otherwise it
  // returns the height and the options that it has set.
  function fit(chart, opt, width) {
    var layout = opt.svm && opt.svm.layout, said = [];
    function say(o) { chart.setOption(o); said.push(o); }
    chart.resize({ width: width });
    if (!layout) return;
    var title = [].concat(opt.title || {})[0], style = title.textStyle || {}, below = title.subtextStyle || {}, buttons = opt.toolbox && opt.toolbox.show !== false;
    say({ title: { text: broken(title.text || '', (style.fontWeight || 600) + ' ' + (style.fontSize || 17) + 'px sans-serif', buttons ? width - 138 : width - 24, width - 24, true), textStyle: { width: width - 18 },
      subtext: broken(title.subtext || '', (below.fontSize || 13) + 'px sans-serif', width - 24, width - 24), subtextStyle: { width: width - 18 } } });
    var top = bottom(chart, 'title', 0) + 10;
    say({ legend: { top: top, width: width - 26 } }); // entries do not reach the edge
    var l = layout(width, bottom(chart, 'legend', top) + 14);
    chart.resize({ width: width, height: l.height });
    say(l.option);
    opt.laid = l.option;
    say(roundTicks(chart, opt));
    var beside = sideNames(chart, opt, l.option, width < 520);
    if (beside) say(beside);
    return { height: l.height, options: said };
  }
  // Ticks, labels and grid lines of a linear axis stand at multiples of its interval only, and not
  // at its ends as well, which are as the data are. Ticks that the figure or its layout has set stay.
  function roundTicks(chart, opt) {
    var out = {}, laid = opt.laid || {};
    function set(axis) { return axis && axis.axisLabel && axis.axisLabel.customValues; }
    ['xAxis', 'yAxis'].forEach(function (dim) {
      out[dim] = [].concat(opt[dim] || []).map(function (own, i) {
        var axis = (chart.getModel().getComponent(dim, i) || {}).axis, label = own.axisLabel || {}, at = [];
        if (!axis || axis.type !== 'value' || own.show === false || typeof own.min !== 'number' || typeof own.max !== 'number' || set(own) || set([].concat(laid[dim] || [])[i])) return {};
        var ends = axis.scale.getExtent(), step = axis.scale.getInterval();
        if (/^3/.test(step.toExponential())) step *= Math.floor(ends[1] / step * 0.6) - Math.ceil(ends[0] / step * 0.6) > 2 ? 5 / 3 : 2 / 3; // 1, 2 and 5 are rounder
        var slack = 1e-6 * step;
        for (var k = Math.ceil((ends[0] - slack) / step); k * step <= ends[1] + slack && at.length < 100; k++) at.push(Math.min(Math.max(+(k * step).toPrecision(12), ends[0]), ends[1]));
        return { axisLabel: { customValues: at, showMinLabel: null, showMaxLabel: null, formatter: alike(label.formatter, at) }, axisTick: { customValues: at }, splitLine: { customValues: at } };
      });
    });
    return out;
  }
  // The formatter with equal decimals for all these ticks, if they are plain numbers.
  function alike(formatter, at) {
    if (typeof formatter !== 'function') return formatter;
    var texts = at.map(function (v, i) { return String(formatter(v, i)); }), plain = /^\u2212?\d+(\.\d+)?$/;
    function decimals(t) { return (t.split('.')[1] || '').length; }
    var most = Math.max.apply(null, texts.map(decimals).concat(0));
    if (!most || !texts.every(function (t) { return plain.test(t); })) return formatter;
    return function (v, i) {
      var t = String(formatter(v, i)), n = decimals(t);
      return !plain.test(t) || n >= most ? t : t + (n ? '' : '.') + '0'.repeat(most - n);
    };
  }
  // On a narrow chart the names of y axes stand close to the numbers, and the panel leaves them
  // the room that they need. Axes above one another keep their names in one line. On a wide chart
  // the names are where the figure has put them.
  function sideNames(chart, opt, laid, narrow) {
    function axes(o) { return [].concat(o.yAxis || []); }
    var now = chart.getOption(), groups = {}, ys = axes(now).map(function () { return {}; }), grids = [].concat(now.grid || []).map(function () { return {}; }), found = false;
    axes(now).forEach(function (a, i) {
      var grid = now.grid && now.grid[a.gridIndex || 0], own = axes(opt)[i] || {};
      if (!grid || typeof grid.left !== 'number' || !a.name || a.type === 'category' || a.nameLocation !== 'middle' || a.show === false || a.position === 'right' || (axes(laid)[i] || {}).nameGap !== undefined) return;
      found = true;
      if (!narrow) { ys[i].nameGap = own.nameGap; return; }
      var m = chart.getModel().getComponent('yAxis', i), label = m.getModel('axisLabel'), gap = 7;
      if (label.get('show') !== false) {
        var shown = m.axis.getViewLabels().slice(label.get('showMinLabel') === false ? 1 : 0);
        if (label.get('showMaxLabel') === false) shown.pop();
        gap += label.get('margin') + Math.max.apply(null, shown.map(function (l) { return echarts.format.getTextRect(l.formattedLabel, label.getFont()).width; }).concat(0));
      }
      var g = groups[grid.left] = groups[grid.left] || { gap: 0, ys: [] };
      g.gap = Math.max(g.gap, Math.ceil(gap));
      g.ys.push(i);
    });
    Object.keys(groups).forEach(function (left) {
      var g = groups[left];
      g.ys.forEach(function (i) { ys[i].nameGap = g.gap; });
      var more = g.gap + 16 - left;
      if (more > 0) now.grid.forEach(function (grid, k) {
        if (grid.left !== +left) return;
        grids[k].left = +left + more;
        if (typeof grid.width === 'number') grids[k].width = grid.width - more;
      });
    });
    return found && { grid: grids, yAxis: ys };
  }
  // A text of several lines: the first line leaves room for the toolbox. Lines do not break beside
  // a sign such as =, between two coordinates, and before a signed number, a unit or a dot. Those of a balanced text have about
  // the same length, so that none is left with a single word, and break after a semicolon if both parts
  // then fit.
  function broken(text, font, first, width, balanced) {
    function wide(t) { return echarts.format.getTextRect(t, font).width / 0.97; } // fonts differ a little
    // What stays in a line: of several signs, as in a ≤ b ≤ c, only the first stands with both sides.
    var sign = /(^| )[=≥≤≈±<>→−+×]( |$)/, parts = text.split(/ +/).reduce(function (all, word) {
      var k = all.length - 1, last = all[k];
      if (k >= 0 && (/^(%|·|sd)[,;.:)]?$|^[−+]\d/.test(word) || /(^| )[=≥≤≈±<>→−+×]$/.test(last) || /^\([−\d.]+,$/.test(last) || sign.test(word) && !sign.test(last))) all[k] = last + ' ' + word;
      else all.push(word);
      return all;
    }, []);
    function lines(most) {
      return parts.reduce(function (all, part) {
        var k = all.length - 1;
        if (k >= 0 && wide(all[k] + ' ' + part) <= Math.min(most, k ? width : first)) all[k] += ' ' + part;
        else all.push(part);
        return all;
      }, []);
    }
    if (wide(text) <= first) return text;
    var clauses = text.split('; '), low = width / 2, high = width;
    if (balanced && clauses.length === 2 && wide(clauses[0] + ';') <= first && wide(clauses[1]) <= width) return clauses.join(';\n');
    for (var k = 0, n = lines(width).length; balanced && k < 7; k++) {
      var mid = (low + high) / 2;
      if (lines(mid).length > n) low = mid; else high = mid;
    }
    return lines(high).join('\n');
  }
  function bottom(chart, type, otherwise) {
    var m = chart.getModel().getComponent(type);
    if (!m || m.get('show') === false) return otherwise;
    var g = chart.getViewOfComponentModel(m).group, r = g.getBoundingRect();
    return r.height ? g.y + r.y + r.height : otherwise;
  }

  // ---- the numbers of a chart, for those who cannot see it or do not use a mouse. A chart takes
  // the focus; what opens its table follows it, and is seen while it has the focus.
  var mostRows = 500;
  function tables(chart) {
    var o = chart.getOption(), out = document.createDocumentFragment();
    function axisOf(s, d) { return ([].concat(o[d + 'Axis'] || [])[s[d + 'AxisIndex'] || 0]) || {}; }
    function text(axis, v) {
      if (v === null || v === undefined || v === '-') return '';
      if (axis.type === 'category') return String(axis.data && axis.data[v] !== undefined ? axis.data[v] : v);
      var f = axis.axisLabel && axis.axisLabel.formatter;
      if (typeof f === 'function' && typeof v === 'number' && axis.type !== 'log') { try { return String(f(v)); } catch (e) { return num(v, 6); } }
      return typeof v === 'number' ? num(v, 6) : String(v);
    }
    function line(table, kind, cells) {
      var row = table.insertRow();
      cells.forEach(function (c) {
        var cell = document.createElement(kind);
        if (kind === 'th') cell.scope = 'col';
        cell.textContent = c;
        cell.style.cssText = 'padding:0 .8em 0 0;text-align:left;font-weight:' + (kind === 'th' ? 600 : 400);
        row.appendChild(cell);
      });
    }
    o.series.forEach(function (s) {
      var x = axisOf(s, 'x'), y = axisOf(s, 'y'), at = s.encode ? [s.encode.x, s.encode.y].map(function (e) { return [].concat(e)[0]; }) : [0, 1];
      if (!Array.isArray(s.data) || !s.data.length || s.type === 'custom' && !s.encode) return;
      var rows = s.data.map(function (item) { return item && item.value !== undefined ? item.value : item; }).map(function (v, i) { return Array.isArray(v) ? [v[at[0]], v[at[1]]] : [i, v]; });
      var table = document.createElement('table'), caption = table.createCaption();
      caption.textContent = (s.name || s.id || 'series').replace(/^series\u0000.*$/, 'line') + (rows.length > mostRows ? ', the first ' + mostRows + ' of ' + rows.length + ' points' : '');
      caption.style.cssText = 'text-align:left;font-weight:600';
      table.style.cssText = 'margin:.5em 0;border-collapse:collapse';
      line(table, 'th', [x.name || (x.type === 'category' ? 'name' : 'x'), y.name || (y.type === 'category' ? 'name' : 'y')]);
      rows.slice(0, mostRows).forEach(function (r) { line(table, 'td', [text(x, r[0]), text(y, r[1])]); });
      out.appendChild(table);
    });
    if (!out.childNodes.length) out.appendChild(document.createElement('p')).textContent = 'This figure shows areas, which have no table. Its description has the main numbers.';
    return out;
  }
  function numbers(el, current) {
    var box = document.createElement('details'), summary = document.createElement('summary'), inside = document.createElement('div');
    box.className = 'svm-numbers';
    summary.textContent = 'Numbers of this figure';
    inside.tabIndex = 0;
    inside.style.cssText = 'max-height:20em;overflow:auto';
    box.append(summary, inside);
    function show() {
      box.style.cssText = box.open || box.contains(document.activeElement) || document.activeElement === el ? 'font-size:13px' :
        'position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)';
    }
    function fill() {
      if (box.open && current()) inside.replaceChildren(tables(current()));
      show();
    }
    box.addEventListener('toggle', fill);
    [el, box].forEach(function (e) {
      e.addEventListener('focusin', show);
      e.addEventListener('focusout', function () { setTimeout(show); });
    });
    el.tabIndex = 0;
    show();
    el.after(box);
    return { fill: fill, follow: function () { el.after(box); }, remove: function () { box.remove(); } };
  }

  // ---- a chart in its place: drawn when it has a width, drawn again when the
  // page turns dark or light, fitted when the width changes, disposed of when its
  // place has left the document. A page of JupyterLab lives for days and drops outputs
  // without a word, so nothing but the place's own element holds on to the chart.
  // JupyterLab also takes outputs away that it puts back later (cells that are scrolled
  // out of sight or collapsed): then the chart is drawn again.
  function place(id, el, option) {
    var chart = null, width = 0, page = '', opt, chosen, moment, table = null;
    function make() {
      try {
        var back = backdrop(el), T = palette(back);
        page = back.join();
        drop();
        el.textContent = '';
        var made = start(el, option, T, function (opt) { return { renderer: size(opt) > 4000 ? 'canvas' : 'svg' }; });
        chart = made.chart;
        opt = made.opt;
        if (chosen) chart.setOption({ legend: { selected: chosen } });
        if (moment !== undefined) chart.dispatchAction({ type: 'timelineChange', currentIndex: moment });
        adjust();
        rewind(chart);
        if (opt.svm && opt.svm.layout) ['datazoom', 'restore'].forEach(function (e) { chart.on(e, function () { chart.setOption(roundTicks(chart, opt)); }); });
        el.setAttribute('data-drawn', T.dark ? 'dark' : 'light');
        if (table) table.fill(); else table = numbers(el, function () { return chart; });
      } catch (e) { fail(e); }
    }
    function drop() { // what the reader has chosen stays
      if (!chart) return;
      chosen = (chart.getOption().legend || [{}])[0].selected;
      moment = (chart.getOption().timeline || [{}])[0].currentIndex;
      chart.dispose();
      chart = null;
    }
    function fail(e) {
      if (chart) chart.dispose();
      chart = null;
      el.textContent = 'This chart could not be drawn: ' + e.message;
      el.style.height = 'auto';
      console.error('svmnb:', e);
    }
    // An option in the place of the one before: nothing is drawn from scratch,
    // nothing blinks.
    function update(next) {
      option = next;
      if (!chart) {
        if (width) make(); // else when it has one
        return;
      }
      try {
        var back = backdrop(el), T = palette(back);
        page = back.join();
        opt = JSON.parse(JSON.stringify(option));
        resolve(opt, [tools(T), T, opt, echarts, function () { return chart; }], '', false);
        chart.setOption(opt, { replaceMerge: ['series'] });
        adjust();
        table.fill();
        el.setAttribute('data-updates', +(el.getAttribute('data-updates') || 0) + 1);
      } catch (e) { fail(e); }
    }
    function adjust() {
      var fitted = fit(chart, opt, width);
      if (fitted) el.style.height = fitted.height + 'px';
    }
    new ResizeObserver(function () {
      if (!el.clientWidth || el.clientWidth === width) return;
      width = el.clientWidth;
      if (chart) adjust(); else make();
    }).observe(el);
    places.add(new WeakRef(el));
    charts.set(el, {
      check: function () { if (chart && el.isConnected && backdrop(el).join() !== page) make(); },
      sweep: function () {
        if (el.isConnected) return;
        drop();
        width = 0;
        if (table) table.remove();
        table = null;
      },
      update: update,
      // gone reports whether another place may stand where this one stood: it has left
      // its output, and not just the page together with that.
      gone: function (name) { return name === id && !el.isConnected && !el.closest('.jp-OutputArea'); },
      move: function (to, next) {
        el.setAttribute('aria-label', to.getAttribute('aria-label'));
        to.replaceWith(el);
        if (table) table.follow();
        update(next);
      }
    });
  }
  function each(f) {
    places.forEach(function (ref) {
      var el = ref.deref();
      if (el) f(charts.get(el)); else places.delete(ref);
    });
  }
  // Play on a timeline's last frame begins with the first one.
  function rewind(chart) {
    chart.on('timelineplaychanged', function (e) {
      var t = chart.getModel().getComponent('timeline');
      if (e.playState && t.getCurrentIndex() === t.getData().count() - 1) chart.dispatchAction({ type: 'timelineChange', currentIndex: 0 });
    });
  }
  // The script of a chart stands behind its place. Classic Jupyter runs it elsewhere;
  // then all places of the id are meant, which are of the same chart.
  S.draw = function (id, option, script) {
    var own = script && script.previousElementSibling;
    if (own && own.id === id) drawIn(own, id, option);
    else document.querySelectorAll('[id="' + id + '"]').forEach(function (el) { drawIn(el, id, option); });
  };
  function drawIn(el, id, option) {
    var there = charts.get(el), before = null;
    if (there) {
      if (id.indexOf('svm-live-') === 0) there.update(option);
      return;
    }
    each(function (c) { if (c.gone(id)) before = c; });
    if (before) before.move(el, option); else place(id, el, option);
  }

  // ---- a chart as SVG where there is no page, only the library (package
  // static): what is there to be clicked stays away, everything is drawn at once.
  if (typeof packed !== 'string') {
    echarts = packed;
    return function (option, dark, width, height, id) {
      var T = palette(dark ? darkPage : lightPage), fitted, made;
      function still(opt) {
        opt.animation = false;
        opt.toolbox = { show: false };
        opt.textStyle = Object.assign({ fontFamily: 'inherit' }, opt.textStyle); // the document says once which
        unquote(opt);
        if (!opt.backgroundColor || opt.backgroundColor === 'transparent') opt.backgroundColor = T('@page');
        return [].concat(opt.series || []);
      }
      function unquote(o) { // ECharts writes names of fonts as they are into an attribute
        Object.keys(o).forEach(function (k) {
          if (k === 'fontFamily') o[k] = String(o[k]).replace(/"/g, "'");
          else if (o[k] && typeof o[k] === 'object' && typeof o[k][0] !== 'number') unquote(o[k]);
        });
      }
      if (option.svm && option.svm.layout) { // fitted without data, which takes a tenth of the time
        made = start(null, option, T, function (opt) {
          still(opt).forEach(function (s) { s.data = []; });
          delete opt.dataset;
          return { renderer: 'svg', ssr: true, width: width, height: height };
        });
        fitted = fit(made.chart, made.opt, width);
        made.chart.dispose();
      }
      made = start(null, option, T, function (opt) {
        still(opt).forEach(function (s) { s.progressive = 0; });
        return { renderer: 'svg', ssr: true, width: width, height: fitted ? fitted.height : height };
      }, fitted && fitted.options);
      var painter = made.chart.getZr().painter;
      painter._id = id; // not the count of charts so far: equal charts are equal text
      var svg = painter.renderToString({ useViewBox: true, cssAnimation: false, cssEmphasis: false });
      made.chart.dispose();
      return svg;
    };
  }

  setInterval(function () { each(function (c) { c.sweep(); }); }, 2000);
  function check() { each(function (c) { c.check(); }); }
  var timers = [];
  function soon() { // style sheets of a new theme may arrive after its attribute
    timers.forEach(clearTimeout);
    timers = [50, 400, 1500].map(function (ms) { return setTimeout(check, ms); });
  }
  w.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', soon);
  [document.documentElement, document.body].forEach(function (e) {
    if (e) new MutationObserver(soon).observe(e, { attributes: true });
  });

  // ---- the button beside a line of code copies it.
  document.addEventListener('click', function (e) {
    if (!e.target.closest || !e.target.closest('[data-svm-copy]')) return;
    getSelection().selectAllChildren(e.target.closest('[data-svm-copy]').previousElementSibling);
    document.execCommand('copy');
  });

  // ---- a classic notebook must never be saved without the library that its
  // charts need (its carrier may have been edited or deleted): give it to the
  // first chart that is there.
  if (w.Jupyter && w.Jupyter.notebook) w.Jupyter.notebook.events.on('before_save.Notebook', function () {
    var charts = [], carried = false;
    w.Jupyter.notebook.get_cells().forEach(function (cell) {
      (cell.output_area ? cell.output_area.outputs : []).forEach(function (o) {
        var html = o.data && o.data['text/html'];
        html = html ? [].concat(html).join('') : '';
        if (html.indexOf('function svmnb(w, packed)') >= 0) carried = true;
        if (html.indexOf('__svmEcharts') >= 0) charts.push(o);
      });
    });
    if (!carried && charts.length) {
      var html = [].concat(charts[0].data['text/html']).join('');
      charts[0].data['text/html'] = '<script>(' + svmnb + ')(window,"' + packed + '")<\/script>' + html;
    }
  });

  // ---- JupyterLab and Notebook 7 say nothing before they save, so there the browser
  // keeps the library: charts whose notebook has lost it ask for it there (place.go).
  if (w.caches && document.getElementById('jupyter-config-data')) w.caches.open('svmnb').then(function (cache) {
    return cache.put('/svmnb/echarts-5.6.0', new Response('(' + svmnb + ')(window,"' + packed + '")'));
  }).catch(function () {}); // there is no room

  // ---- the library itself: gzip in base64, run with define, exports and
  // module of its own.
  var bytes = Uint8Array.from(atob(packed), function (c) { return c.charCodeAt(0); });
  new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text().then(function (src) {
    Function('exports', 'module', 'define', src)(echarts = {}, {});
    S.echarts = echarts;
    S.resolve(S);
  });
})
