(function svmnbControls(w, spec, script) {
  'use strict';
  // Controls in a page, and their way to the program that runs in the kernel: each
  // change sends the state of all of them, so that the latest is all that counts.
  // The program answers each message by an element with
  //   data-svm-heard="<id> <who asked> <number of the message>".
  // Only such an answer shows that somebody is there and that this page sees it: a
  // saved one is to another page, and a page that was opened again hears nothing of a
  // cell that still runs.
  var S = w.__svmControls = w.__svmControls || {};

  // ---- the way to the kernel. GoNB has put gonb_comm into the page; its channel
  // begins with ws:// at the server's root, so behind https and under a base_url we
  // have a channel of our own, which speaks the same protocol. We have it too where
  // another notebook of the page has taken gonb_comm, of which there is one.
  S.channel = function (location, base, kernel) {
    return (location.protocol === 'https:' ? 'wss://' : 'ws://') + location.host + ('/' + (base || '/') + '/').replace(/\/+/g, '/') +
      'api/kernels/' + kernel + '/channels';
  };
  function base() { // undefined where no Jupyter is
    var classic = document.body.getAttribute('data-base-url'), lab = document.getElementById('jupyter-config-data');
    if (classic) return decodeURIComponent(classic);
    try { return JSON.parse(lab.textContent).baseUrl || '/'; } catch (e) { return undefined; }
  }
  function uuid() { return crypto.randomUUID ? crypto.randomUUID() : 'svm-' + Date.now() + '-' + Math.random().toString(16).slice(2); }
  function gonb() { // GoNB's channel, where it leads to our kernel
    var g = w.gonb_comm;
    return g && g._kernel_id === spec.kernel && g.websocket_is_opened ? g : null;
  }
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

  // ---- a run of the cell in this page. It has a view in each output that shows it: in
  // JupyterLab an output may be in the notebook and in a panel of its own.
  var ended = 'Nothing answers these controls: the cell that made them has ended, or this page has lost it. Run the cell again to explore; if the kernel is busy, interrupt it first.';
  function run() {
    var views = new Set(), mine = null, alive = false, over = false, timer = 0, posted = 0,
      state = { n: 1, at: spec.at.slice(), kernel: 0, method: 0, from: uuid().replace(/-/g, '').slice(-12), say: 0 },
      heard = 0, last = 0, asked = 0, said = 0, turn = 0, wait = 1000, hidden = true, ticks = false, next = 0, since = 0,
      engine = spec.figure && w.svmnbLiving.queue(function (q) {
        state.question = { kernel: q.kernel, method: q.method, numbers: w.svmnbLiving.encode(new Uint8Array(q.numbers.buffer)) };
        since = state.say + 1;
        send();
      });
    if (engine) w.svmnbLiving.engines[spec.id] = engine;

    function each(f) {
      views.forEach(function (ref) {
        var el = ref.deref();
        if (el) f(el); else views.delete(ref);
      });
    }
    function shown() {
      var n = 0;
      each(function (el) { n += el.isConnected; });
      return n;
    }
    function note(text, dead) { each(function (el) { el.svmView.note(text, dead); }); }

    function ask() { // sends the state as a new message
      var now = Date.now();
      if (heard === state.say) {
        asked = now;
        turn = now + wait;
      }
      state.say++;
      say();
    }
    function say() {
      var g = gonb(), text = JSON.stringify(state);
      said = Date.now();
      if (mine) mine.send(spec.address, text);
      else if (g) g.send(spec.address, text);
    }
    function listen() {
      document.querySelectorAll('[data-svm-heard^="' + spec.id + ' "]').forEach(function (e) {
        var word = e.getAttribute('data-svm-heard').split(' ');
        if (word[1] !== state.from || !(+word[2] > heard)) return;
        heard = +word[2];
        asked = last = Date.now();
        wait = 1000;
        if (state.question && heard >= since) answered(e.getAttribute('data-svm-answer') || '');
        if (alive) return;
        alive = true;
        each(function (el) { el.svmView.show(); });
        note('');
      });
    }
    function answered(text) { // a kind and, as base64, numbers or the words of an error
      var kind = text.slice(0, 4), bytes = w.svmnbLiving.decode(text.slice(4));
      state.question = null;
      if (kind === 'f64 ') engine.answered(new w.Float64Array(bytes.buffer));
      else if (kind === 'f32 ') engine.answered(w.Float64Array.from(new w.Float32Array(bytes.buffer)));
      else engine.answered({ error: new w.TextDecoder().decode(bytes) });
    }
    function tick() {
      clearTimeout(next);
      if (over) return;
      listen();
      var now = Date.now();
      if (!shown()) { // scrolled out of sight, or gone: the program ends when it is alone
        hidden = true;
        if (now - Math.max(last, asked) > spec.alone) return end();
        return (next = setTimeout(tick, 500));
      }
      if (hidden) { // until now
        hidden = false;
        asked = now;
        turn = now + wait;
      }
      if (heard < state.say) {
        if (now - asked > 2000) note(now - asked > spec.patience ? ended : 'Waiting for the kernel …', now - asked > spec.patience);
        if (now - asked > spec.patience) {
          alive = false;
          // The program waits for a page that sleeps; for one that never heard of it, it does not.
          if (!heard || state.done || now - asked > spec.alone) return end();
        }
        if (now > turn) { // each way longer than before: a busy machine takes its time
          if (!mine || gonb() || wait > 8000) { // our channel stays where it is the only way
            if (mine) mine.close();
            mine = mine && gonb() ? null : own(function () { mine = null; });
          }
          wait = Math.min(2 * wait, 20000);
          turn = now + wait;
        }
        if (now - said > 250) say();
      } else if (now - last > 10000) {
        ask();
      }
      next = setTimeout(tick, heard < state.say ? state.question ? 10 : 50 : 500);
    }
    function end() {
      over = true;
      delete S.runs[spec.id];
      if (mine) mine.close();
      note(ended, true);
    }

    function send() {
      posted = Date.now();
      state.n = Math.max(posted, state.n + 1);
      ask();
      if (ticks) tick();
    }
    return {
      state: state,
      join: function (el) {
        var company = alive && shown();
        el.svmView = spec.figure ? figure(el, this) : view(el, this);
        views.add(new WeakRef(el));
        if (company) el.svmView.show();
        else { // to be heard of anew
          alive = false;
          ask();
        }
        if (!ticks) {
          ticks = true;
          tick();
        }
      },
      where: '', // the address of the figure's last state at rest
      follow: function (where) {
        this.where = where;
        each(function (el) { el.svmView.follow(where); });
      },
      change: function () { // at most one in 30 ms, and always the last
        each(function (el) { el.svmView.sync(); });
        if (!timer) timer = setTimeout(function () {
          timer = 0;
          send();
        }, Math.max(0, posted + 30 - Date.now()));
      }
    };
  }

  // ---- what is to be seen in one output.
  function make(parent, tag, text, style) {
    var e = parent.appendChild(document.createElement(tag));
    if (text) e.textContent = text;
    if (style) e.style.cssText = style;
    return e;
  }
  function view(el, run) {
    var words = null, box = null, state = run.state, syncs = [], closed = false;
    function choice(name, options, key) {
      var label = make(box, 'label', name + ' ', 'white-space:nowrap;margin:0'), s = make(label, 'select', '', 'font:inherit;max-width:22em;width:auto;display:inline;height:auto');
      s.setAttribute('data-svm-choice', name);
      options.forEach(function (o) { make(s, 'option', o); });
      s.onchange = function () {
        state[key] = s.selectedIndex;
        run.change();
      };
      syncs.push(function () {
        s.selectedIndex = state[key];
        s.disabled = closed || options.length < 2;
      });
    }
    function sync() { syncs.forEach(function (f) { f(); }); }
    return {
      sync: sync,
      show: function () {
        closed = false;
        if (box) return sync();
        box = el.insertBefore(document.createElement('div'), words);
        box.style.cssText = 'display:flex;flex-wrap:wrap;gap:.3em 1.6em;align-items:center;padding:.4em 0;font-size:14px';
        // A key that is pressed here is no command to the notebook, whose arrow keys go to another cell.
        box.setAttribute('data-lm-suppress-shortcuts', 'true'); // JupyterLab
        // Classic Jupyter and Notebook 7 hear keys before the box does, so the window stops them.
        var page = false;
        w.addEventListener('keydown', function keep(e) {
          if (box.contains(e.target)) e.stopPropagation();
          if (page && !box.isConnected) w.removeEventListener('keydown', keep, true);
          page = page || box.isConnected;
        }, true);
        spec.dials.forEach(function (d, i) {
          var label = make(box, 'label', d.name, 'align-items:center;gap:.5em;white-space:nowrap;margin:0'), input = make(label, 'input', '', 'width:11em'), out = make(label, 'output', '', 'min-width:4em;font-variant-numeric:tabular-nums');
          input.type = 'range';
          input.min = 0;
          input.max = d.values.length - 1;
          input.setAttribute('data-svm-dial', d.name);
          input.oninput = function () {
            state.at[i] = +input.value;
            run.change();
          };
          syncs.push(function () {
            input.value = state.at[i];
            out.textContent = d.values[state.at[i]];
            input.disabled = closed;
            label.style.display = d.kernel < 0 || d.kernel === state.kernel ? 'inline-flex' : 'none';
          });
        });
        choice('kernel', spec.kernels, 'kernel');
        choice('solver', spec.methods, 'method');
        var done = make(box, 'button', 'Done', 'font:inherit');
        done.setAttribute('data-svm-done', '');
        done.onclick = function () {
          state.done = true;
          run.change();
        };
        syncs.push(function () { done.disabled = closed || !!state.done; });
        sync();
      },
      note: function (text, dead) {
        if (!words) words = make(el, 'div', '', 'font-size:14px;padding:.3em 0;max-width:44em');
        if (words.textContent === text && closed === !!dead) return;
        words.textContent = text;
        closed = !!dead;
        sync();
      }
    };
  }

  function figure(el, run) { // a living figure, and the figures of the other views follow it
    var words = null, f = null, done = null, closed = false;
    function sync() {
      if (!f) return;
      f.inert = done.disabled = closed || !!run.state.done;
      f.style.opacity = closed ? 0.6 : 1;
    }
    return {
      sync: sync,
      show: function () {
        closed = false;
        if (f) return sync();
        f = document.createElement('svmnb-explore');
        f.setAttribute('spec', JSON.stringify(spec.figure));
        f.setAttribute('engine', spec.id);
        f.setAttribute('tools', 'points');
        // Keys in the figure are no shortcuts of Jupyter: the attribute is for JupyterLab.
        f.setAttribute('data-lm-suppress-shortcuts', 'true');
        f.addEventListener('keydown', function (e) { e.stopPropagation(); });
        if (run.where) f.setAttribute('state', run.where);
        f.addEventListener('svmnb-rest', function () { run.follow(f.where()); });
        el.insertBefore(f, words);
        done = document.createElement('button');
        done.textContent = 'Done';
        done.type = 'button';
        done.title = 'End the cell; the picture stays';
        done.style.cssText = 'font:inherit';
        done.setAttribute('data-svm-done', '');
        done.onclick = function () {
          run.state.done = true;
          run.change();
        };
        el.insertBefore(done, words);
        sync();
      },
      follow: function (where) { if (f && f.where() !== where) f.goWhere(where); },
      note: function (text, dead) {
        if (!words) words = make(el, 'div', '', 'font-size:14px;padding:.3em 0;max-width:44em');
        if (words.textContent === text && closed === !!dead) return;
        words.textContent = text;
        closed = !!dead;
        sync();
      }
    };
  }

  // The script stands behind its element. Classic Jupyter runs it elsewhere.
  var el = script && script.previousElementSibling;
  if (!el || el.id !== spec.id) el = Array.from(document.querySelectorAll('[id="' + spec.id + '"]')).filter(function (e) { return !e.svmView; })[0];
  if (!el || el.svmView) return;
  if (base() === undefined) {
    el.textContent = 'The controls of this cell work while it runs in Jupyter.';
    return;
  }
  S.runs = S.runs || {};
  (S.runs[spec.id] = S.runs[spec.id] || run()).join(el);
})
