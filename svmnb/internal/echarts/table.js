(function (id, data) {
  // A click on a column's name sorts by it, upwards and then downwards: a table that
  // is cut by the orders that come with it, a whole one by what its cells say.
  document.querySelectorAll('[id="' + id + '"]').forEach(function (box) {
    var heads = Array.from(box.querySelectorAll('thead th')), body = box.querySelector('tbody');
    if (data && data.lead) heads.shift();
    var looks = heads.map(function (h) { return h.className; });
    function cut(k, down) {
      body.textContent = '';
      data.orders[k][+down].forEach(function (i) {
        var row = body.insertRow();
        if (data.lead) row.insertCell();
        data.rows[i].forEach(function (text, j) {
          var cell = row.insertCell();
          cell.textContent = text;
          cell.className = looks[j];
        });
      });
    }
    function whole(k, down) {
      var key = function (row) {
        var text = row.cells[k].textContent;
        return looks[k] === 't' ? text.toLowerCase() : parseFloat(text.replace(/\u2212/g, '-').replace('\u221e', 'Infinity'));
      };
      Array.from(body.rows).map(function (r, i) { return { row: r, key: key(r), at: i }; }).sort(function (a, b) {
        var gone = (a.key !== a.key) - (b.key !== b.key); // missing ones last
        return gone || (a.key === b.key || a.key !== a.key ? a.at - b.at : (a.key < b.key) !== down ? -1 : 1);
      }).forEach(function (r) { body.appendChild(r.row); });
    }
    function sorts(k) { return !data || data.orders[k][0]; }
    function sort(k) {
      var down = heads[k].getAttribute('aria-sort') === 'ascending';
      heads.forEach(function (h, j) { if (sorts(j)) h.setAttribute('aria-sort', j !== k ? 'none' : down ? 'descending' : 'ascending'); });
      (data ? cut : whole)(k, down);
    }
    heads.forEach(function (h, k) {
      if (!sorts(k) || h.hasAttribute('aria-sort')) return;
      h.setAttribute('aria-sort', 'none');
      h.tabIndex = 0;
      h.title = 'sort';
      h.addEventListener('click', function () { sort(k); });
      h.addEventListener('keydown', function (e) {
        if (e.key !== 'Enter' && e.key !== ' ') return;
        e.preventDefault();
        sort(k);
      });
    });
  });
})
