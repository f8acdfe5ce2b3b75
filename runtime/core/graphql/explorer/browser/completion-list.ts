import type { Editor } from './editor.ts';
import { element } from './elements.ts';
import {
  type ClientSchema,
  namedType,
  OPERATIONS,
  type TypeReference,
  typeText,
} from './schema.ts';
import {
  membersOf,
  type OpenBracket,
  type DocumentPosition,
  positionAt,
} from './document-position.ts';

/** Pixels: a row, the padding of the list, and the most that it takes, as in explorer.css. */
const ROW = 27;
const PADDING = 10;
const MAX_HEIGHT = 240;

/**
 * The list of suggestions below the caret. Arrow keys choose, Enter and Tab insert, Escape closes,
 * Ctrl+Space opens.
 */
export function attachCompletion(editor: Editor, schemaOf: () => ClientSchema | null): void {
  const list = element('ul', { id: 'completion', hidden: true, role: 'listbox' });
  document.body.append(list);
  let found: Suggestions = { from: 0, items: [] };
  let chosen = 0;
  const close = () => void (list.hidden = true);
  const open = () => {
    const schema = schemaOf();
    if (!schema) return;
    found = suggest(schema, editor.value, editor.area.selectionStart);
    list.hidden = found.items.length === 0;
    choose(0);
  };
  const choose = (index: number) => {
    chosen = index;
    list.replaceChildren(
      ...found.items.map((item, each) => row(item, each === chosen, () => take(each))),
    );
    place(list, editor.area, found);
    list.children[chosen]?.scrollIntoView({ block: 'nearest' });
  };
  const take = (index: number) => {
    const item = found.items[index];
    if (item) editor.replace(found.from, editor.area.selectionStart, item.text);
    close();
  };
  const step = (by: number) => choose((chosen + by + found.items.length) % found.items.length);
  const actions: Readonly<Record<string, () => void>> = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Enter: () => take(chosen),
    Tab: () => take(chosen),
  };
  const handleKey = (event: KeyboardEvent) => {
    const opens = event.ctrlKey && event.code === 'Space';
    const action = opens ? open : list.hidden || event.ctrlKey ? undefined : actions[event.key];
    if (action) {
      event.preventDefault();
      action();
    } else if (event.key === 'Escape') close();
  };
  editor.area.addEventListener('input', (event) =>
    isTyped(event as InputEvent) || !list.hidden ? open() : close(),
  );
  editor.area.addEventListener('blur', close);
  editor.area.addEventListener('keydown', handleKey, true);
}

/** Whether a letter of a name was typed, as opposed to pasted or inserted by the list. */
const isTyped = ({ inputType, data }: InputEvent) =>
  inputType === 'insertText' && /[\w@$]/.test(data ?? '');

function row({ label, note }: Suggestion, isChosen: boolean, take: () => void): HTMLElement {
  const made = element('li', { role: 'option' }, label, element('small', { textContent: note }));
  made.ariaSelected = String(isChosen);
  // Runs before the text area loses the focus, which would close the list.
  made.addEventListener('mousedown', (event) => {
    event.preventDefault();
    take();
  });
  return made;
}

/** Puts the list below the word that is typed, or above it when there is no space below. */
function place(list: HTMLElement, area: HTMLTextAreaElement, { from, items }: Suggestions): void {
  const { left, top } = caretPlace(area, from);
  const height = Math.min(MAX_HEIGHT, items.length * ROW + PADDING);
  const above = Math.max(4, top - 28 - height);
  list.style.left = `${Math.min(left, innerWidth - 320)}px`;
  list.style.top = `${top + MAX_HEIGHT + PADDING > innerHeight ? above : top}px`;
}

let canvas: CanvasRenderingContext2D | null = null;

/**
 * The position on the screen of the line below an index of the text. A text area does not report
 * it, so the text is measured.
 */
function caretPlace(area: HTMLTextAreaElement, index: number): { left: number; top: number } {
  const style = getComputedStyle(area);
  const box = area.getBoundingClientRect();
  const lines = area.value.slice(0, index).split('\n');
  canvas ??= document.createElement('canvas').getContext('2d');
  if (canvas) canvas.font = style.font;
  const width = canvas?.measureText(lines.at(-1) ?? '').width ?? 0;
  return {
    left: box.left + parseFloat(style.paddingLeft) + width,
    top: box.top + parseFloat(style.paddingTop) + lines.length * parseFloat(style.lineHeight) + 2,
  };
}

/** A word that is valid at the position. */
interface Suggestion {
  readonly label: string;
  /** The text that is inserted. */
  readonly text: string;
  readonly note: string;
}

interface Suggestions {
  /** The position of the word that the suggestion replaces. */
  readonly from: number;
  readonly items: readonly Suggestion[];
}

const LIMIT = 40;

/**
 * Words that the schema allows at a position: first those that begin with the typed word, then
 * those that contain it.
 */
function suggest(schema: ClientSchema, text: string, place: number): Suggestions {
  const position = positionAt(schema, text, place);
  const { typing } = position;
  const word = typing?.text.toLowerCase() ?? '';
  const rank = ({ label }: Suggestion) => (label.toLowerCase().startsWith(word) ? 0 : 1);
  const items = candidates(schema, position)
    .filter(({ label }) => label.toLowerCase().includes(word) && label.toLowerCase() !== word)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, LIMIT);
  return { from: typing?.at ?? place, items };
}

interface NamedItem {
  readonly name: string;
  readonly type?: TypeReference;
  readonly description?: string | null;
}

const suggestion = (
  { name, type, description }: NamedItem,
  { before = '', after = '' } = {},
): Suggestion => ({
  label: before + name,
  text: before + name + after,
  note: type ? typeText(type) : (description?.split('\n')[0] ?? ''),
});

const plain = (label: string, after = '', note = ''): Suggestion => ({
  label,
  text: label + after,
  note,
});

function candidates(
  schema: ClientSchema,
  { frame, previous, typing }: DocumentPosition,
): Suggestion[] {
  if (typing?.kind === 'directive')
    return schema.directives.map((directive) => suggestion(directive, { before: '@' }));
  if (previous?.text === 'on') return typesOf(schema, ['OBJECT', 'INTERFACE', 'UNION']);
  if (frame.kind === 'variables')
    return previous?.text === ':' || previous?.text === '['
      ? typesOf(schema, ['SCALAR', 'ENUM', 'INPUT_OBJECT'])
      : [];
  if (frame.kind === 'document')
    return [...OPERATIONS.filter((name) => schema[name]), 'fragment'].map((word) =>
      plain(word, ' '),
    );
  if (frame.kind === 'selection')
    return previous?.text === '...' ? [plain('on', ' ')] : fieldsOf(schema, frame);
  if (previous?.text === ':') return valuesOf(schema, frame);
  return membersOf(schema, frame).map((member) => suggestion(member, { after: ': ' }));
}

function typesOf(schema: ClientSchema, kinds: readonly string[]): Suggestion[] {
  return [...schema.types.values()]
    .filter(({ kind, name }) => kinds.includes(kind) && !name.startsWith('__'))
    .map((type) => suggestion(type));
}

function fieldsOf(schema: ClientSchema, { type }: OpenBracket): Suggestion[] {
  const fields = schema.types.get(type ?? '')?.fields ?? [];
  return [...fields.map((field) => suggestion(field)), plain('__typename', '', 'String')];
}

function valuesOf(schema: ClientSchema, frame: OpenBracket): Suggestion[] {
  const member = membersOf(schema, frame).find(({ name }) => name === frame.key);
  const type = member && schema.types.get(namedType(member.type));
  if (type?.enumValues) return type.enumValues.map((value) => suggestion(value));
  return type?.name === 'Boolean'
    ? ['true', 'false'].map((word) => plain(word, '', 'Boolean'))
    : [];
}
