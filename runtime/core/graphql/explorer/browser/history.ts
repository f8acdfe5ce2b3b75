import { element, elementById } from './elements.ts';
import type { Memory } from './storage.ts';

/** An operation as it was sent. */
export interface SentOperation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
}

const LIMIT = 30;

/** The list of operations that were run: the newest first, and each only once. */
export function createHistory(
  memory: Memory,
  restore: (operation: SentOperation) => void,
): { add(operation: SentOperation): void; draw(): void } {
  const past = () => memory.get<readonly SentOperation[]>('history', []);
  const keep = (operations: readonly SentOperation[]) => {
    memory.set('history', operations);
    draw();
  };
  function draw(): void {
    const operations = past();
    const forget = button('Forget all', () => keep([]));
    elementById('history').replaceChildren(
      element('h2', { textContent: 'History' }),
      ...(operations.length === 0
        ? [element('p', { textContent: 'Nothing was run yet.' })]
        : [...operations.map((each) => pastButton(each, restore)), forget]),
    );
  }
  return {
    draw,
    add: ({ query, variables }) => {
      const others = past().filter((each) => !isSame(each, { query, variables }));
      keep([{ query, variables }, ...others].slice(0, LIMIT));
    },
  };
}

const isSame = (a: SentOperation, b: SentOperation) =>
  a.query === b.query && JSON.stringify(a.variables) === JSON.stringify(b.variables);

function pastButton(
  operation: SentOperation,
  restore: (operation: SentOperation) => void,
): HTMLElement {
  const oneLine = operation.query.replace(/#.*$/gm, '').replace(/\s+/g, ' ').trim();
  return Object.assign(
    button(oneLine, () => restore(operation)),
    { className: 'past', title: operation.query },
  );
}

function button(textContent: string, click: () => void): HTMLButtonElement {
  const made = element('button', { textContent });
  made.addEventListener('click', click);
  return made;
}
