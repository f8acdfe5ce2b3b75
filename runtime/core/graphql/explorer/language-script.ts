/** Tokens of GraphQL and JSON, their colours, and a layout for documents. Runs in the browser. */
export const languageScript = String.raw`'use strict';
const GRAPHQL = /(\s+|,)|(#[^\n]*)|("""[\s\S]*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?)|(\$\w*)|(@\w*)|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\.\.\.|[{}()[\]:=!|&])|(.)/g;
const KINDS = ['space', 'comment', 'string', 'variable', 'directive', 'number', 'name', 'mark', 'wrong'];
const KEYWORDS = new Set(['query', 'mutation', 'subscription', 'fragment', 'on']);

function tokens(text) {
  const found = [];
  for (const match of text.matchAll(GRAPHQL)) {
    const index = match.slice(1).findIndex((part) => part !== undefined);
    found.push({ kind: KINDS[index], text: match[0], at: match.index });
  }
  return found;
}

const escapeHtml = (text) => text.replace(/[&<>]/g, (letter) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[letter]);
const colour = (kind, text) => '<span class="' + kind + '">' + escapeHtml(text) + '</span>';

function highlightGraphql(text, isWrong) {
  return tokens(text).map((token) => {
    const wrong = isWrong(token.at) ? ' wrong' : '';
    if (token.kind === 'space' || token.kind === 'mark') return wrong ? colour(wrong, token.text) : escapeHtml(token.text);
    if (token.kind !== 'name') return colour(token.kind + wrong, token.text);
    if (KEYWORDS.has(token.text)) return colour('keyword' + wrong, token.text);
    return colour((/^(true|false|null)$/.test(token.text) ? 'literal' : 'field') + wrong, token.text);
  }).join('') + '\n';
}

function highlightJson(text) {
  const pattern = /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b|[^"\d\-tfn]+|./g;
  let html = '';
  for (const match of text.matchAll(pattern)) {
    if (match[1] !== undefined) html += colour(match[2] === undefined ? 'string' : 'key', match[1]) + (match[2] ?? '');
    else if (match[3] !== undefined) html += colour('number', match[3]);
    else if (match[4] !== undefined) html += colour('literal', match[4]);
    else html += escapeHtml(match[0]);
  }
  return html + '\n';
}

/** One field a line; arguments stay on theirs. */
function prettify(text) {
  let out = '';
  let depth = 0;
  let round = 0;
  let before = null;
  const line = () => '\n' + '  '.repeat(depth);
  const list = tokens(text).filter(({ kind }) => kind !== 'space');
  list.forEach((token, index) => {
    const next = list[index + 1];
    const inline = round > 0;
    if (token.kind === 'comment') out += (out === '' ? '' : line()) + token.text;
    else if (token.text === '(' || token.text === '[') { round += 1; out += (before && before.text === ':' ? ' ' : '') + token.text; }
    else if (token.text === ')' || token.text === ']') { round -= 1; out += token.text; }
    else if (token.text === '{' && inline) { round += 1; out += (before && (before.text === '(' || before.text === '[') ? '' : ' ') + '{'; }
    else if (token.text === '}' && inline) { round -= 1; out += (before && before.text === '{' ? '' : ' ') + '}'; }
    else if (token.text === '{') { out += (out === '' || out.endsWith('\n') ? '' : ' ') + '{'; depth += 1; }
    else if (token.text === '}') { depth = Math.max(0, depth - 1); out += line() + '}' + (depth === 0 && next ? '\n\n' : ''); }
    else if (token.text === ':' || token.text === '!') out += token.text;
    else if (token.text === '=') out += ' =';
    else if (inline) out += (before && (before.text === '(' || before.text === '[') ? '' : before && before.text !== ':' && before.text !== '=' && before.text !== '{' ? ', ' : ' ') + token.text;
    else if (depth === 0) out += (out === '' || /\n$/.test(out) ? '' : ' ') + token.text;
    else if (token.kind === 'directive' || (before && (before.text === ':' || before.text === '...' && (KEYWORDS.has(token.text) || token.kind === 'name') || before.text === 'on'))) out += (before.text === '...' && !KEYWORDS.has(token.text) ? '' : ' ') + token.text;
    else out += line() + token.text;
    before = token;
  });
  return out.replace(/\n{3,}/g, '\n\n').trim() + '\n';
}
`;
