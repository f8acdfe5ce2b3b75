import { KEYWORDS, type DocumentToken, tokensOf } from './language.ts';

/** The state of the layout. */
interface Layout {
  text: string;
  /** Open braces of selections: how far a line is indented. */
  depth: number;
  /** Open brackets of arguments and lists, whose content stays on its line. */
  brackets: number;
  before: DocumentToken | undefined;
}

/** Formats a document: each field gets a line, and its arguments stay on that line. */
export function prettify(document: string): string {
  const tokens = tokensOf(document).filter(({ kind }) => kind !== 'space');
  const layout: Layout = { text: '', depth: 0, brackets: 0, before: undefined };
  tokens.forEach((token, index) => {
    append(layout, token, index === tokens.length - 1);
    layout.before = token;
  });
  return `${layout.text.replace(/\n{3,}/g, '\n\n').trim()}\n`;
}

function append(layout: Layout, token: DocumentToken, last: boolean): void {
  const { text } = token;
  if (token.kind === 'comment') layout.text += (layout.text === '' ? '' : newLine(layout)) + text;
  else if (text === '(' || text === '[') {
    layout.brackets += 1;
    layout.text += (/[:=]/.test(layout.before?.text ?? '') ? ' ' : '') + text;
  } else if (text === ')' || text === ']') {
    layout.brackets -= 1;
    layout.text += text;
  } else if (text === '{' || text === '}') appendBrace(layout, text, last);
  else if (text === ':' || text === '!') layout.text += text;
  else if (text === '=') layout.text += ' =';
  else layout.text += spaceBefore(layout, token) + text;
}

function appendBrace(layout: Layout, text: '{' | '}', last: boolean): void {
  const before = layout.before?.text ?? '';
  if (layout.brackets > 0) {
    const opens = text === '{';
    const close = opens ? before === '(' || before === '[' : before === '{';
    layout.brackets += opens ? 1 : -1;
    layout.text += (close ? '' : ' ') + text;
  } else if (text === '{') {
    layout.text += /^$|\n$/.test(layout.text) ? '{' : ' {';
    layout.depth += 1;
  } else {
    layout.depth = Math.max(0, layout.depth - 1);
    layout.text += `${newLine(layout)}}${layout.depth === 0 && !last ? '\n\n' : ''}`;
  }
}

/** The space between a token and the one before it. */
function spaceBefore(layout: Layout, token: DocumentToken): string {
  const before = layout.before?.text ?? '';
  if (layout.brackets > 0) {
    if (before === '(' || before === '[') return '';
    return before === ':' || before === '=' || before === '{' ? ' ' : ', ';
  }
  if (layout.depth === 0) return /^$|\n$/.test(layout.text) ? '' : ' ';
  if (before === '...') return KEYWORDS.has(token.text) ? ' ' : '';
  if (token.kind === 'directive' || before === ':' || before === 'on') return ' ';
  return newLine(layout);
}

const newLine = ({ depth }: Layout) => `\n${'  '.repeat(depth)}`;
