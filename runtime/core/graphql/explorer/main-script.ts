/** Joins the parts of the page: runs operations, keeps what was written, shows what came. Runs in the browser. */
export const mainScript = String.raw`
const endpoint = document.body.dataset.endpoint;
const at = (id) => document.getElementById(id);
const START = '# Write a query and press Ctrl+Enter. Ctrl+Space completes, the schema is on the right.\n\nquery {\n  __typename\n}\n';
const store = {
  get: (name, fallback) => { try { return JSON.parse(localStorage.getItem('explorer:' + endpoint + ':' + name)) ?? fallback; } catch { return fallback; } },
  set: (name, value) => { try { localStorage.setItem('explorer:' + endpoint + ':' + name, JSON.stringify(value)); } catch {} },
};
let schema = null;
let running = null;

const query = createEditor(at('query'), { onChange: (text) => { store.set('query', text); listOperations(text); } });
const variables = createEditor(at('variables'), { onChange: (text) => store.set('variables', text) });
// Headers hold tokens: they are forgotten with the tab.
const headers = createEditor(at('headers'), { onChange: (text) => { try { sessionStorage.setItem('explorer:headers', text); } catch {} } });
attachCompletion(query, () => schema);
const documentation = createDocumentation(at('documentation'), () => schema);

function listOperations(text) {
  const names = [...text.matchAll(/^\s*(?:query|mutation|subscription)\s+(\w+)/gm)].map((match) => match[1]);
  const chosen = at('operation').value;
  at('operation').replaceChildren(...names.map((name) => make('option', { value: name, textContent: name, selected: name === chosen })));
  at('operation').hidden = names.length < 2;
}

function readJson(editor, what) {
  if (editor.value.trim() === '') return {};
  try { return JSON.parse(editor.value); } catch (error) { throw new Error(what + ' are not valid JSON: ' + error.message); }
}

function show(value) { at('result').innerHTML = highlightJson(typeof value === 'string' ? value : JSON.stringify(value, null, 2)); }

async function run() {
  if (running) { running.abort(); return; }
  const started = performance.now();
  running = new AbortController();
  at('run').textContent = '■ Stop';
  at('status').textContent = 'running …';
  try {
    const name = at('operation').hidden ? undefined : at('operation').value;
    const body = { query: query.value, variables: readJson(variables, 'Variables'), ...(name && { operationName: name }) };
    remember(body);
    const stream = /^\s*subscription\b/m.test(query.value) && (!name || new RegExp('subscription\\s+' + name + '\\b').test(query.value));
    const response = await ask(body, stream ? 'text/event-stream' : 'application/graphql-response+json, application/json', running.signal);
    if (stream && response.headers.get('content-type').includes('event-stream')) await follow(response);
    else show(await response.text().then((text) => { try { return JSON.parse(text); } catch { return text; } }));
    at('status').textContent = response.status + ' · ' + Math.round(performance.now() - started) + ' ms';
  } catch (error) {
    at('status').textContent = error.name === 'AbortError' ? 'stopped' : 'failed';
    if (error.name !== 'AbortError') show({ error: error.message });
  } finally {
    running = null;
    at('run').textContent = '▶ Run';
  }
}

function ask(body, accept, signal) {
  return fetch(endpoint, { method: 'POST', signal, headers: { 'content-type': 'application/json', accept, ...readJson(headers, 'Headers') }, body: JSON.stringify(body) });
}

/** Shows events as they come, the newest first. */
async function follow(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const events = [];
  let rest = '';
  at('status').textContent = 'listening …';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop();
    for (const part of parts) {
      const data = /^data: (.+)$/m.exec(part);
      if (data) events.unshift(JSON.parse(data[1]));
    }
    show(events.slice(0, 50));
  }
}

function remember(body) {
  const past = store.get('history', []).filter((item) => item.query !== body.query || JSON.stringify(item.variables) !== JSON.stringify(body.variables));
  store.set('history', [{ query: body.query, variables: body.variables, at: Date.now() }, ...past].slice(0, 30));
  drawHistory();
}

function drawHistory() {
  const past = store.get('history', []);
  const restore = (item) => { query.value = item.query; variables.value = Object.keys(item.variables ?? {}).length > 0 ? JSON.stringify(item.variables, null, 2) : ''; };
  const title = (item) => item.query.replace(/#.*$/gm, '').replace(/\s+/g, ' ').trim();
  at('history').replaceChildren(make('h2', { textContent: 'History' }), ...(past.length === 0 ? [make('p', { textContent: 'Nothing was run yet.' })] : past.map((item) => make('button', { className: 'past', textContent: title(item), title: item.query, onclick: () => restore(item) }))), ...(past.length > 0 ? [make('button', { textContent: 'Forget all', onclick: () => { store.set('history', []); drawHistory(); } })] : []));
}

async function loadSchema() {
  try {
    const answer = await (await ask({ query: INTROSPECTION }, 'application/json')).json();
    schema = answer.data ? readSchema(answer.data.__schema) : null;
  } catch { schema = null; }
  documentation.draw();
}

function toggle(name) {
  for (const each of ['documentation', 'history']) {
    const on = each === name && (at(each).hidden || at('side').hidden);
    at(each).hidden = !on;
    at('show-' + each).setAttribute('aria-pressed', String(on));
  }
  at('side').hidden = at('documentation').hidden && at('history').hidden;
}

at('run').addEventListener('click', run);
at('prettify').addEventListener('click', () => { query.value = prettify(query.value); });
at('show-history').addEventListener('click', () => toggle('history'));
at('show-documentation').addEventListener('click', () => toggle('documentation'));
for (const tab of document.querySelectorAll('[data-tab]')) {
  tab.addEventListener('click', () => {
    for (const other of document.querySelectorAll('[data-tab]')) {
      other.setAttribute('aria-selected', String(other === tab));
      at(other.dataset.tab).hidden = other !== tab;
    }
  });
}
headers.area.addEventListener('blur', () => { if (!schema) void loadSchema(); });
document.addEventListener('keydown', (event) => {
  if (!(event.ctrlKey || event.metaKey)) return;
  if (event.key === 'Enter') { event.preventDefault(); void run(); }
  if (event.shiftKey && event.key.toLowerCase() === 'p') { event.preventDefault(); query.value = prettify(query.value); }
}, true);

const given = new URLSearchParams(location.search);
query.value = given.get('query') ?? store.get('query', START);
variables.value = given.get('variables') ?? store.get('variables', '');
try { headers.value = sessionStorage.getItem('explorer:headers') ?? ''; } catch {}
drawHistory();
void loadSchema();
`;
