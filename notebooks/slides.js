(function () {
  'use strict';
  var narrow = innerWidth < 600, width = narrow ? 480 : 960, height = narrow ? 860 : 540;
  var room = height - 22; // above the number of the slide
  var letter = 13.6;      // px of the smallest letter of a chart: 17 px on a projector of 1280 × 720
  var printed = /print-pdf/.test(location.search);
  var states = new WeakMap();

  // ---- charts
  function chartOf(el) {
    var echarts = (window.__svmEcharts || {}).echarts;
    return echarts && el.hasAttribute('data-drawn') && echarts.getInstanceByDom(el);
  }
  function part(chart, name) { return [].concat(chart.getOption()[name] || [])[0] || {}; }
  function bottom(chart, name, otherwise) {
    var m = chart.getModel().getComponent(name), g = m && m.get('show') !== false && chart.getViewOfComponentModel(m).group, r = g && g.getBoundingRect();
    return r && r.height ? g.y + r.y + r.height : otherwise;
  }
  function smallest(chart) {
    return Math.min.apply(null, chart.getZr().storage.getDisplayList(true).map(function (e) {
      return e.type === 'tspan' && e.style.text && !e.invisible ? parseFloat((/([\d.]+)px/.exec(e.style.font) || [0, 99])[1]) : 99;
    }));
  }
  // The chart as it was drawn: its panels, and how high it is. It is drawn anew when its width changes
  // or the page turns dark, and then has another height than the one that was set here.
  function drawn(el) {
    var s = states.get(el), chart = chartOf(el);
    if (!chart) return null;
    if (s && s.chart === chart && s.width === el.clientWidth && el.style.height === s.own) return s;
    s = { el: el, chart: chart, width: el.clientWidth, high: parseFloat(el.style.height), own: el.style.height };
    var own = chart.getOption(), change = {};
    s.svm = own.svm || {};
    s.names = ((own.legend || [])[0] || {}).data || [];
    if (printed) change.toolbox = { show: false }; // buttons are of no use on paper
    var top = bottom(chart, 'legend', bottom(chart, 'title', 0));
    if (el.closest('.panels')) { // what all panels say is said once, by the legend above them
      change.title = { text: part(chart, 'title').text.replace(/\n/g, ' '), textStyle: { fontSize: 14, lineHeight: 18, width: s.width - 14 }, subtext: '' };
      change.toolbox = { show: false };
      change.legend = { show: !el.closest('.panels').querySelector('.legend') };
      if (change.legend.show) change.legend.top = 0;
    }
    chart.setOption(change);
    if (change.title) {
      var below = bottom(chart, 'title', 0);
      if (change.legend.show) chart.setOption({ legend: { top: below + 8 } });
      s.up = top - bottom(chart, 'legend', below);
    }
    var grids = [].concat(own.grid || []).filter(function (g) { return typeof g.top === 'number' && typeof g.height === 'number'; });
    if (own.svm && grids.length === (own.grid || []).length && !own.svm.files) s.grids = grids.map(function (g) {
      var right = typeof g.width === 'number' ? Math.min(70, Math.max(14, s.width - g.left - g.width)) : g.right;
      return { left: g.left, top: g.top - (s.up || 0), width: typeof g.width === 'number' ? g.width : s.width - g.left - g.right, height: g.height, right: right };
    });
    s.high -= s.up || 0;
    s.small = smallest(chart);
    states.set(el, s);
    return s;
  }
  function unique(list) { return Array.from(new Set(list)).sort(function (a, b) { return a - b; }); }
  function columnsOf(s) { return s.grids ? unique(s.grids.map(function (g) { return Math.round(g.left); })).length : 1; }
  // The chart with this height, and with its panel in this share of its width.
  function shape(s, high, share) {
    var before = s.own;
    if (!s.grids) s.chart.resize({ height: high });
    else {
      var tops = unique(s.grids.map(function (g) { return Math.round(g.top); })), rows = tops.map(function (t) {
        return Math.max.apply(null, s.grids.map(function (g) { return Math.round(g.top) === t ? g.height : 0; }));
      });
      var panels = rows.reduce(function (a, b) { return a + b; }, 0), f = Math.min(1, Math.max((high - s.high + panels) / panels, 0.2, Math.min(1, (rows.length > 1 ? 66 : 110) / Math.max.apply(null, rows)), (s.svm.columns ? 18.5 * s.svm.rows : 0) / panels));
      var one = s.grids[0], most = share * s.width - one.left - one.right, still = s.svm.aspect && s.grids.length === 1;
      if (still) f = Math.min(f, most / one.width);
      var grids = s.grids.map(function (g) {
        var up = 0;
        tops.forEach(function (t, i) { if (t < Math.round(g.top)) up += rows[i] * (1 - f); });
        return { left: g.left, right: 'auto', top: g.top - up, height: g.height * f, width: still ? g.width * f : share < 1 ? Math.min(g.width, most) : g.width };
      });
      high = s.high - panels * (1 - f);
      s.chart.resize({ height: high });
      s.chart.setOption({ grid: grids });
      s.end = { left: (grids[0].left + grids[0].width + one.right), top: grids[0].top };
    }
    s.now = high;
    s.own = Math.round(high) + 'px';
    if (before !== s.own) s.el.style.height = s.own;
    else s.own = s.el.style.height;
  }
  // One legend for panels of the same kind.
  function legend(panels) {
    var all = panels.map(drawn), kinds = unique(panels.map(function (el) { return el.getAttribute('aria-label').split('.')[0]; }));
    if (kinds.length > 1 || all.indexOf(null) >= 0 || panels[0].closest('.panels').querySelector('.legend')) return;
    var names = {}, series = {};
    all.forEach(function (s) {
      s.names.forEach(function (n) { names[n.name || n] = names[n.name || n] || n; });
      s.chart.getOption().series.forEach(function (o) { series[o.name] = series[o.name] || Object.assign({}, o, { data: [], xAxisIndex: 0, yAxisIndex: 0, markLine: null, markPoint: null, endLabel: null }); });
    });
    var box = document.createElement('div'), own = part(all[0].chart, 'legend'), echarts = window.__svmEcharts.echarts;
    if (!Object.keys(names).length) return;
    box.className = 'legend';
    panels[0].closest('.panels').prepend(box);
    box.style.zoom = letter / 13;
    box.style.height = '80px';
    var chart = echarts.init(box, null, { renderer: 'svg' });
    chart.setOption({ animation: false, grid: { show: false }, xAxis: { show: false }, yAxis: { show: false }, series: Object.keys(series).map(function (n) { return series[n]; }),
      textStyle: all[0].chart.getOption().textStyle, color: all[0].chart.getOption().color,
      legend: Object.assign({}, own, { show: true, selectedMode: false, data: Object.keys(names).map(function (n) { return names[n]; }), top: 0, width: box.clientWidth - 26 }) });
    var high = Math.ceil(bottom(chart, 'legend', 0)) + 4;
    box.style.height = high + 'px';
    chart.resize({ height: high });
    all.forEach(function (s) { s.own = ''; }); // they are without a legend now
  }

  // ---- slides
  function wrapped(slide) {
    return Array.from(slide.querySelectorAll('.hang')).filter(function (e) { return e.offsetHeight > 1.6 * parseFloat(getComputedStyle(e).lineHeight); }).length;
  }
  function high(slide) { return slide.scrollHeight * (parseFloat(slide.style.zoom) || 1); }
  function wide(slide) { return Array.from(slide.querySelectorAll('.rich, .rich > div, table')).some(function (e) { return e.scrollWidth > e.clientWidth + 1 || e.offsetWidth > e.parentNode.clientWidth + 1; }); }
  function letters(slide, size) { slide.style.setProperty('--size', size); }
  function look(slide) { // what a slide looks like without what is done here
    return slide.scrollHeight + '/' + slide.querySelectorAll('.katex, [data-drawn]').length + '/' +
      Array.from(slide.querySelectorAll('[id^="svm-"]')).map(function (el) { return el.clientWidth + el.style.height; });
  }
  // Charts get the height that the rest of the slide leaves. Where there are none, letters become as large
  // as the slide has room for. What is still too high becomes smaller, and if that is not enough, it scrolls.
  function fit(slide) {
    if (!slide.offsetParent || look(slide) === slide.look) return;
    slide.style.zoom = 1;
    letters(slide, 1);
    slide.style.setProperty('--table', 1);
    var places = Array.from(slide.querySelectorAll('[id^="svm-"]'));
    slide.querySelectorAll('.panels').forEach(function (p) {
      var inside = Array.from(p.querySelectorAll('[id^="svm-"]'));
      if (inside.length > 1) legend(inside);
    });
    var all = places.map(drawn).filter(Boolean);
    if (all.length && all.length === places.length) charts(slide, all);
    else if (!places.length) {
      var lines = wrapped(slide), size = 1.3;
      for (; size > 1; size = Math.round(100 * size - 5) / 100) {
        letters(slide, size);
        if (high(slide) <= room && wrapped(slide) <= lines && !wide(slide)) break;
      }
      letters(slide, size);
    }
    for (var t = 1; wide(slide) && t >= 0.85; t -= 0.05) slide.style.setProperty('--table', t);
    for (var s = 0.98; high(slide) > room && s > 0.84; s -= 0.02) letters(slide, s);
    for (var zoom = 0.97; high(slide) > room && zoom >= 0.5; zoom -= 0.03) slide.style.zoom = zoom;
    slide.style.overflow = high(slide) > height ? 'auto' : 'visible';
    slide.look = look(slide);
  }
  function charts(slide, all) {
    all.forEach(function (s) {
      var zoom = Math.max(1, Math.round(1000 * letter / s.small) / 1000);
      if (zoom > 1.4) zoom = 1.4;
      if (s.zoom !== zoom) s.el.style.zoom = s.zoom = zoom; // its width changes, and it is drawn anew
    });
    var rows = unique(all.map(function (s) { return Math.round(s.el.getBoundingClientRect().top / 8); })).length;
    var most = Math.max.apply(null, all.map(function (s) { return s.high * s.zoom; }));
    function draw(share, target) {
      all.forEach(function (s) {
        var box = s.el.closest('.beside'), alone = box && columnsOf(s) === 1 && !(s.svm.columns > 8); // a heat map needs its width
        if (box) box.classList.toggle('below', !alone);
        shape(s, Math.min(s.high, target / s.zoom), alone ? share : 1);
        if (alone && s.end) {
          box.style.setProperty('--left', Math.min(s.end.left * s.zoom + 8, 0.62 * width) + 'px');
          box.style.setProperty('--top', s.end.top * s.zoom - 8 + 'px');
        }
      });
      return high(slide) - room;
    }
    [0.58, 0.48].some(function (share) {
      var target = most, over = draw(share, target), before = target, was = over;
      for (var k = 0; k < 4 && over > 0; k++) {
        before = target;
        was = over;
        target = Math.min(target, Math.max.apply(null, all.map(function (s) { return s.now * s.zoom; }))) - over / rows - 1;
        over = draw(share, target);
      }
      if (over > 0 && was - over < 3) draw(share, before); // it is the text that is too high
      return over <= 0;
    });
  }

  var slides = document.querySelectorAll('.slide');
  document.querySelectorAll('.slide .pair, .slide .rich > [style*="grid-template-columns"]').forEach(function (p) {
    p.style.setProperty('--columns', Math.min(p.children.length, 3));
    p.classList.add('panels');
  });
  function fitAll() { slides.forEach(fit); }
  Reveal.initialize({
    width: width, height: height, margin: 0.05, center: false, hash: true, transition: 'none',
    slideNumber: 'c/t', controlsTutorial: false, pdfSeparateFragments: false, pdfMaxPagesPerSlide: 1,
  }).then(function () {
    Reveal.on('slidechanged', fitAll);
    Reveal.on('pdf-ready', fitAll);
    // Charts, formulas and fonts change the height later.
    var later = new MutationObserver(function () { requestAnimationFrame(fitAll); });
    later.observe(document.querySelector('.slides'), { childList: true, subtree: true, attributes: true, attributeFilter: ['data-drawn'] });
    document.fonts.ready.then(fitAll);
    fitAll();
  });
})();
