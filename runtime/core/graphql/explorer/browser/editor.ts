import { element } from './elements.ts';
import { highlightGraphql, highlightJson } from './language.ts';

/** A text area with a coloured copy of its text behind it. */
export interface Editor {
  readonly area: HTMLTextAreaElement;
  value: string;
  /** Replaces a part of the text as if it were typed, so that undo restores it. */
  replace(from: number, to: number, text: string): void;
}

/**
 * Makes an editor in an element. `data-language` and `data-label` of the element say what it edits.
 */
export function createEditor(host: HTMLElement, changed: (text: string) => void): Editor {
  const area = element('textarea', { spellcheck: false, autocapitalize: 'off' });
  const view = element('pre', { ariaHidden: 'true' });
  area.ariaLabel = host.dataset['label'] ?? '';
  host.append(element('div', { className: 'inner' }, view, area));
  const highlight = host.dataset['language'] === 'json' ? highlightJson : highlightGraphql;
  const update = () => {
    view.innerHTML = highlight(area.value);
    changed(area.value);
  };
  area.addEventListener('input', update);
  area.addEventListener('keydown', (event) => handleKey(event, area));
  return {
    area,
    get value() {
      return area.value;
    },
    set value(text) {
      area.value = text;
      update();
    },
    replace(from, to, text) {
      area.focus();
      area.setSelectionRange(from, to);
      insert(area, text);
      update();
    },
  };
}

/** `execCommand` is deprecated, but only its changes can be undone in the browser. */
function insert(area: HTMLTextAreaElement, text: string): void {
  if (document.execCommand('insertText', false, text)) return;
  area.setRangeText(text, area.selectionStart, area.selectionEnd, 'end');
  area.dispatchEvent(new Event('input'));
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']' };

/**
 * Enter keeps the indentation. An opening bracket inserts its closing one, which can be typed over.
 */
function handleKey(event: KeyboardEvent, area: HTMLTextAreaElement): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const { selectionStart: from, selectionEnd: to, value } = area;
  const closing = CLOSING[event.key];
  const next = value[to] ?? '';
  if (event.key === 'Enter') {
    event.preventDefault();
    breakLine(area);
  } else if (closing !== undefined && from === to && /^[\s)}\]]?$/.test(next)) {
    event.preventDefault();
    insert(area, event.key + closing);
    area.setSelectionRange(from + 1, from + 1);
  } else if (from === to && next === event.key && Object.values(CLOSING).includes(event.key)) {
    event.preventDefault();
    area.setSelectionRange(from + 1, from + 1);
  }
}

/** Between a pair of brackets, the closing one moves to its own line. */
function breakLine(area: HTMLTextAreaElement): void {
  const { selectionStart: from, selectionEnd: to, value } = area;
  const indent = /^ */.exec(value.slice(value.lastIndexOf('\n', from - 1) + 1))?.[0] ?? '';
  const closing = CLOSING[value[from - 1] ?? ''];
  if (closing === undefined) return insert(area, `\n${indent}`);
  const closes = value[to] === closing;
  insert(area, `\n${indent}  ${closes ? `\n${indent}` : ''}`);
  const caret = from + indent.length + 3;
  if (closes) area.setSelectionRange(caret, caret);
}
