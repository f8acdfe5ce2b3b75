import { attachCompletion } from './completion-list.ts';
import { createDocumentation } from './documentation.ts';
import { createEditor, type Editor } from './editor.ts';
import { element, elementById } from './elements.ts';
import { createHistory, type SentOperation } from './history.ts';
import { highlightJson } from './language.ts';
import { prettify } from './prettify.ts';
import { INTROSPECTION, type Introspection, readSchema, type ClientSchema } from './schema.ts';
import { createMemory } from './storage.ts';

const START =
  '# Write a query and press Ctrl+Enter. Ctrl+Space completes, the schema is on the right.\n\nquery {\n  __typename\n}\n';
/** How many events of a subscription stay on the page. */
const EVENTS = 50;

const endpoint = document.body.dataset['endpoint'] ?? '/graphql';
const memory = createMemory(() => localStorage, `explorer:${endpoint}:`);
// Headers contain tokens, so they are stored for this browser tab only.
const tabMemory = createMemory(() => sessionStorage, 'explorer:');
const operationList = elementById<HTMLSelectElement>('operation');

let schema: ClientSchema | null = null;
let running: AbortController | null = null;

const query = createEditor(elementById('query'), (text) => {
  memory.set('query', text);
  listOperations(text);
});
const variables = createEditor(elementById('variables'), (text) => memory.set('variables', text));
const headers = createEditor(elementById('headers'), (text) => tabMemory.set('headers', text));
const documentation = createDocumentation(elementById('documentation'), () => schema);
const history = createHistory(memory, restore);

attachCompletion(query, () => schema);
elementById('run').addEventListener('click', () => void run());
elementById('prettify').addEventListener('click', layOut);
elementById('show-history').addEventListener('click', () => togglePanel('history'));
elementById('show-documentation').addEventListener('click', () => togglePanel('documentation'));
tabs().forEach((tab) => tab.addEventListener('click', () => openTab(tab)));
headers.area.addEventListener('blur', () => schema ?? void loadSchema());
document.addEventListener('keydown', handleKey, true);

const given = new URLSearchParams(location.search);
query.value = given.get('query') ?? memory.get('query', START);
variables.value = given.get('variables') ?? memory.get('variables', '');
headers.value = tabMemory.get('headers', '');
history.draw();
void loadSchema();

/** Runs the operation, or stops the one that is running. */
async function run(): Promise<void> {
  if (running) return running.abort();
  const started = performance.now();
  running = new AbortController();
  elementById('run').textContent = '■ Stop';
  say('running …');
  try {
    const status = await execute(running.signal);
    say(`${status} · ${Math.round(performance.now() - started)} ms`);
  } catch (error) {
    const stopped = error instanceof Error && error.name === 'AbortError';
    say(stopped ? 'stopped' : 'failed');
    if (!stopped) show({ error: error instanceof Error ? error.message : String(error) });
  } finally {
    running = null;
    elementById('run').textContent = '▶ Run';
  }
}

/** Sends the operation and shows the answer, or each event of a subscription. */
async function execute(signal: AbortSignal): Promise<number> {
  const operationName = operationList.hidden ? '' : operationList.value;
  const operation = {
    query: query.value,
    variables: readJson(variables, 'Variables'),
    ...(operationName && { operationName }),
  };
  history.add(operation);
  const streams = isSubscription(operation);
  const accept = streams
    ? 'text/event-stream'
    : 'application/graphql-response+json, application/json';
  const response = await send(operation, accept, signal);
  if (streams && response.headers.get('content-type')?.includes('event-stream'))
    await follow(response);
  else show(parsed(await response.text()));
  return response.status;
}

function isSubscription({ query: text, operationName: name }: SentOperation): boolean {
  if (!/^\s*subscription\b/m.test(text)) return false;
  return !name || new RegExp(`subscription\\s+${name}\\b`).test(text);
}

function send(
  operation: { readonly query: string },
  accept: string,
  signal: AbortSignal | null,
): Promise<Response> {
  return fetch(endpoint, {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json', accept, ...readJson(headers, 'Headers') },
    body: JSON.stringify(operation),
  });
}

/** Shows the events of a stream (`text/event-stream`) as they come, the newest first. */
async function follow(response: Response): Promise<void> {
  const events: unknown[] = [];
  let rest = '';
  say('listening …');
  for await (const text of texts(response)) {
    const parts = (rest + text).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const data = /^data: (.+)$/m.exec(part)?.[1];
      if (data !== undefined) events.unshift(JSON.parse(data));
    }
    show(events.slice(0, EVENTS));
  }
}

async function* texts(response: Response): AsyncGenerator<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const read = await reader?.read();
    if (!read || read.done) return;
    yield read.value;
  }
}

async function loadSchema(): Promise<void> {
  try {
    const response = await send({ query: INTROSPECTION }, 'application/json', null);
    const { data } = (await response.json()) as { data?: { __schema: Introspection } | null };
    schema = data ? readSchema(data.__schema) : null;
  } catch {
    schema = null;
  }
  documentation.draw();
}

/** Lists the operations of a document that has several. */
function listOperations(text: string): void {
  const matches = text.matchAll(/^\s*(?:query|mutation|subscription)\s+(\w+)/gm);
  const names = Array.from(matches, ([, name = '']) => name);
  const chosen = operationList.value;
  operationList.replaceChildren(
    ...names.map((name) =>
      element('option', { value: name, textContent: name, selected: name === chosen }),
    ),
  );
  operationList.hidden = names.length < 2;
}

function readJson(editor: Editor, what: string): Record<string, string> {
  if (editor.value.trim() === '') return {};
  try {
    return JSON.parse(editor.value) as Record<string, string>;
  } catch (error) {
    throw new Error(`${what} are not valid JSON: ${String(error)}`, { cause: error });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function show(value: unknown): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  elementById('result').innerHTML = highlightJson(text);
}

function say(status: string): void {
  elementById('status').textContent = status;
}

function restore(operation: SentOperation): void {
  const { variables: values } = operation;
  query.value = operation.query;
  variables.value = Object.keys(values).length > 0 ? JSON.stringify(values, null, 2) : '';
}

function layOut(): void {
  query.value = prettify(query.value);
}

/** Opens one of the two panels on the right, or closes it. */
function togglePanel(name: 'documentation' | 'history'): void {
  const opens = elementById(name).hidden || elementById('side').hidden;
  for (const each of ['documentation', 'history']) {
    const isOpen = each === name && opens;
    elementById(each).hidden = !isOpen;
    elementById(`show-${each}`).ariaPressed = String(isOpen);
  }
  elementById('side').hidden = !opens;
}

function tabs(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('[data-tab]')];
}

function openTab(opened: HTMLElement): void {
  for (const tab of tabs()) {
    tab.ariaSelected = String(tab === opened);
    elementById(tab.dataset['tab'] ?? '').hidden = tab !== opened;
  }
}

function handleKey(event: KeyboardEvent): void {
  if (!event.ctrlKey && !event.metaKey) return;
  const isLayOut = event.shiftKey && event.key.toLowerCase() === 'p';
  if (event.key !== 'Enter' && !isLayOut) return;
  event.preventDefault();
  if (isLayOut) layOut();
  else void run();
}
