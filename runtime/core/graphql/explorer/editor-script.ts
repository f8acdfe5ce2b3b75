/** A text area with colours behind it, and a list of completions. Runs in the browser. */
export const editorScript = String.raw`
function createEditor(host, options) {
  const inner = document.createElement('div');
  const view = document.createElement('pre');
  const area = document.createElement('textarea');
  inner.className = 'inner';
  area.spellcheck = false;
  area.autocapitalize = 'off';
  area.setAttribute('aria-label', host.dataset.label);
  view.setAttribute('aria-hidden', 'true');
  inner.append(view, area);
  host.append(inner);
  const paint = () => { view.innerHTML = host.dataset.language === 'json' ? highlightJson(area.value) : highlightGraphql(area.value, options.isWrong ?? (() => false)); };
  area.addEventListener('input', () => { paint(); options.onChange?.(area.value); });
  area.addEventListener('keydown', (event) => onKey(event, area, changed));
  function changed() { paint(); options.onChange?.(area.value); }
  return {
    area,
    host,
    paint,
    get value() { return area.value; },
    set value(text) { area.value = text; changed(); },
    replace(from, to, text) { area.focus(); area.setSelectionRange(from, to); insert(area, text); changed(); },
  };
}

/** Through the browser's own command, so that undo knows of it. */
function insert(area, text) {
  if (!document.execCommand('insertText', false, text)) area.setRangeText(text, area.selectionStart, area.selectionEnd, 'end');
}

const PAIRS = { '{': '}', '(': ')', '[': ']' };

function onKey(event, area, changed) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const { selectionStart: from, selectionEnd: to, value } = area;
  const indent = /^ */.exec(value.slice(value.lastIndexOf('\n', from - 1) + 1))[0];
  if (event.key === 'Enter') {
    event.preventDefault();
    const opens = '{(['.includes(value[from - 1] ?? ' ');
    const closes = opens && value[to] === PAIRS[value[from - 1]];
    insert(area, '\n' + indent + (opens ? '  ' : '') + (closes ? '\n' + indent : ''));
    if (closes) area.setSelectionRange(from + indent.length + 3, from + indent.length + 3);
    changed();
  } else if (PAIRS[event.key] && from === to && /^[\s)}\]]?$/.test(value[to] ?? '')) {
    event.preventDefault();
    insert(area, event.key + PAIRS[event.key]);
    area.setSelectionRange(from + 1, from + 1);
    changed();
  } else if (Object.values(PAIRS).includes(event.key) && value[from] === event.key && from === to) {
    event.preventDefault();
    area.setSelectionRange(from + 1, from + 1);
  }
}

/** The list below the caret. Arrow keys choose, Enter and Tab take, Escape closes, Ctrl+Space opens. */
function attachCompletion(editor, schemaOf) {
  const list = document.createElement('ul');
  list.id = 'completion';
  list.hidden = true;
  list.setAttribute('role', 'listbox');
  document.body.append(list);
  let found = { from: 0, items: [] };
  let chosen = 0;
  const close = () => { list.hidden = true; };
  function open() {
    const schema = schemaOf();
    if (!schema) return;
    found = completions(schema, editor.value, editor.area.selectionStart);
    chosen = 0;
    list.hidden = found.items.length === 0;
    draw();
  }
  function draw() {
    list.replaceChildren(...found.items.map((item, index) => {
      const row = document.createElement('li');
      const note = document.createElement('small');
      note.textContent = item.note;
      row.append(item.label, note);
      row.setAttribute('role', 'option');
      row.setAttribute('aria-selected', String(index === chosen));
      row.addEventListener('mousedown', (event) => { event.preventDefault(); take(index); });
      return row;
    }));
    const { left, top } = caretPlace(editor.area, found.from);
    list.style.left = Math.min(left, innerWidth - 320) + 'px';
    list.style.top = (top + 250 > innerHeight ? Math.max(4, top - 28 - Math.min(240, found.items.length * 27 + 10)) : top) + 'px';
    list.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }
  function take(index) {
    close();
    editor.replace(found.from, editor.area.selectionStart, found.items[index].text);
    close();
  }
  editor.area.addEventListener('input', (event) => (event.inputType === 'insertText' && /[\w@$]/.test(event.data ?? '') || !list.hidden ? open() : close()));
  editor.area.addEventListener('blur', close);
  editor.area.addEventListener('keydown', (event) => {
    if (event.ctrlKey && event.code === 'Space') { event.preventDefault(); return open(); }
    if (list.hidden) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') { event.preventDefault(); chosen = (chosen + (event.key === 'ArrowDown' ? 1 : -1) + found.items.length) % found.items.length; draw(); }
    else if ((event.key === 'Enter' || event.key === 'Tab') && !event.ctrlKey) { event.preventDefault(); take(chosen); }
    else if (event.key === 'Escape') close();
  }, true);
}

function caretPlace(area, at) {
  const style = getComputedStyle(area);
  const box = area.getBoundingClientRect();
  const lines = area.value.slice(0, at).split('\n');
  const canvas = caretPlace.canvas ??= document.createElement('canvas').getContext('2d');
  canvas.font = style.font;
  const height = parseFloat(style.lineHeight);
  return { left: box.left + parseFloat(style.paddingLeft) + canvas.measureText(lines.at(-1)).width, top: box.top + parseFloat(style.paddingTop) + lines.length * height + 2 };
}
`;
