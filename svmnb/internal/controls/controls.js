(function svmnbControls(w, spec) {
  'use strict';
  // Controls in a page, and their way to the program that runs in the kernel: each
  // change sends the state of all of them, so that the latest is all that counts.
  // The program answers by an element with data-svm-seen="<id> <number of the state>".
  var S = w.__svmControls = w.__svmControls || {};

  // ---- the way to the kernel. GoNB has put gonb_comm into the page; its channel
  // begins with ws:// at the server's root, so behind https and under a base_url we
  // have a channel of our own, which speaks the same protocol.
  S.channel = function (location, base, kernel) {
    return (location.protocol === 'https:' ? 'wss://' : 'ws://') + location.host + ('/' + (base || '/') + '/').replace(/\/+/g, '/') +
      'api/kernels/' + kernel + '/channels';
  };
  function base() {
    var classic = document.body.getAttribute('data-base-url'), lab = document.getElementById('jupyter-config-data');
    if (classic) return decodeURIComponent(classic);
    try { return JSON.parse(lab.textContent).baseUrl; } catch (e) { return '/'; }
  }
  function uuid() { return crypto.randomUUID ? crypto.randomUUID() : 'svm-' + Date.now() + '-' + Math.random().toString(16).slice(2); }
  function own(failed) {
    var comm = uuid(), socket = new WebSocket(S.channel(w.location, base(), spec.kernel));
    function message(type, content) {
      var id = uuid();
      content.comm_id = comm;
      socket.send(JSON.stringify({ header: { msg_id: id, msg_type: type }, msg_id: id, msg_type: type, parent_header: {}, metadata: {}, content: content, channel: 'shell' }));
    }
    function send(address, value) {
      if (socket.readyState === 1) message('comm_msg', { data: { address: address, value: value } });
    }
    socket.onopen = function () { message('comm_open', { target_name: 'gonb_comm', kernel_id: spec.kernel, data: {} }); };
    socket.onclose = failed;
    socket.onmessage = function (e) {
      var m = JSON.parse(e.data);
      if (m.msg_type === 'comm_msg' && m.content.comm_id === comm && m.content.data.address === '#heartbeat/ping') send('#heartbeat/pong', true);
    };
    return { send: send, close: function () { socket.onclose = null; socket.close(); } };
  }

  var el = document.getElementById(spec.id), mine = null, state = { at: spec.at.slice(), kernel: 0, method: 0 }, sent = 0, timer = 0;
  if (!el || !/^http/.test(w.location.protocol) || (w.Jupyter && w.Jupyter.notebook && w.Jupyter.notebook.kernel && w.Jupyter.notebook.kernel.id !== spec.kernel)) return; // of another day
  function post() {
    timer = 0;
    state.n = Math.max(Date.now(), (state.n || 0) + 1);
    sent = Date.now();
    say();
  }
  function say() {
    var g = w.gonb_comm, text = JSON.stringify(state);
    if (mine) mine.send(spec.address, text);
    else if (g && g._kernel_id === spec.kernel && g.websocket_is_opened) g.send(spec.address, text);
  }
  function change() { // at most one in 30 ms, and always the last
    if (!timer) timer = setTimeout(post, Math.max(0, sent + 30 - Date.now()));
  }
  function seen() { return document.querySelector('[data-svm-seen^="' + spec.id + ' "]'); }

  // ---- until the program has answered, ask; after a while by the other way.
  var begun = Date.now(), turn = begun + 500, wait = 1000;
  var ask = setInterval(function () {
    if (!el.isConnected || Date.now() - begun > spec.patience) return stop();
    if (seen()) {
      clearInterval(ask);
      show();
      ask = setInterval(function () { // the program ends when nobody is here
        if (!el.isConnected) stop();
        else say();
      }, 20000);
      return;
    }
    if (Date.now() > turn) { // each way longer than before: a busy machine takes its time
      if (mine) mine.close();
      mine = mine ? null : own(function () { mine = null; });
      turn = Date.now() + wait;
      wait *= 2;
    }
    if (state.n) say(); else post();
  }, 50);
  function stop() {
    clearInterval(ask);
    if (mine) mine.close();
    mine = null;
  }

  // ---- what is to be seen.
  function make(parent, tag, text, style) {
    var e = parent.appendChild(document.createElement(tag));
    if (text) e.textContent = text;
    if (style) e.style.cssText = style;
    return e;
  }
  function choice(parent, name, options, take) {
    var label = make(parent, 'label', name + ' ', 'white-space:nowrap;margin:0'), s = make(label, 'select', '', 'font:inherit;max-width:22em;width:auto;display:inline;height:auto');
    s.setAttribute('data-svm-choice', name);
    options.forEach(function (o) { make(s, 'option', o); });
    s.disabled = options.length < 2;
    s.onchange = function () { take(s.selectedIndex); change(); };
  }
  function show() {
    var box = make(el, 'div', '', 'display:flex;flex-wrap:wrap;gap:.3em 1.6em;align-items:center;padding:.4em 0;font-size:14px'), groups = [];
    function group(k) { groups.forEach(function (g) { g.e.style.display = g.kernel < 0 || g.kernel === k ? 'inline-flex' : 'none'; }); }
    spec.dials.forEach(function (d, i) {
      var label = make(box, 'label', d.name, 'align-items:center;gap:.5em;white-space:nowrap;margin:0'), input = make(label, 'input', '', 'width:11em'), out = make(label, 'output', '', 'min-width:4em;font-variant-numeric:tabular-nums');
      input.type = 'range';
      input.min = 0;
      input.max = d.values.length - 1;
      input.value = spec.at[i];
      input.setAttribute('data-svm-dial', d.name);
      out.textContent = d.values[spec.at[i]];
      input.oninput = function () {
        state.at[i] = +input.value;
        out.textContent = d.values[state.at[i]];
        change();
      };
      groups.push({ e: label, kernel: d.kernel });
    });
    group(0);
    choice(box, 'kernel', spec.kernels, function (k) { state.kernel = k; group(k); });
    choice(box, 'solver', spec.methods, function (m) { state.method = m; });
    var done = make(box, 'button', 'Done', 'font:inherit');
    done.setAttribute('data-svm-done', '');
    done.onclick = function () {
      state.done = done.disabled = true;
      post();
    };
  }
})
