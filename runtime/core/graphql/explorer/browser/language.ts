const KINDS = [
  'space',
  'comment',
  'string',
  'variable',
  'directive',
  'number',
  'name',
  'mark',
  'wrong',
] as const;

/** One regular expression group for each kind, in the same order. */
const GRAPHQL =
  /(\s+|,)|(#[^\n]*)|("""[\s\S]*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?)|(\$\w*)|(@\w*)|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\.\.\.|[{}()[\]:=!|&])|(.)/g;

const JSON_PARTS =
  /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b|[^"\d\-tfn]+|./g;

export const KEYWORDS: ReadonlySet<string> = new Set([
  'query',
  'mutation',
  'subscription',
  'fragment',
  'on',
]);

/** A piece of a GraphQL document and where it begins. The pieces together are the document. */
export interface DocumentToken {
  readonly kind: (typeof KINDS)[number];
  readonly text: string;
  readonly at: number;
}

export function tokensOf(text: string): DocumentToken[] {
  return Array.from(text.matchAll(GRAPHQL), (match) => {
    const group = match.slice(1).findIndex((part) => part !== undefined);
    return { kind: KINDS[group] ?? 'wrong', text: match[0], at: match.index };
  });
}

/** A document as HTML, each token in a span that the style colours. */
export function highlightGraphql(text: string): string {
  return `${tokensOf(text).map(highlightToken).join('')}\n`;
}

function highlightToken({ kind, text }: DocumentToken): string {
  if (kind === 'space' || kind === 'mark') return escapeHtml(text);
  if (kind !== 'name') return span(kind, text);
  if (KEYWORDS.has(text)) return span('keyword', text);
  return span(/^(true|false|null)$/.test(text) ? 'literal' : 'field', text);
}

export function highlightJson(text: string): string {
  const parts = Array.from(text.matchAll(JSON_PARTS), ([whole, string, colon, number, literal]) => {
    if (string !== undefined)
      return span(colon === undefined ? 'string' : 'key', string) + (colon ?? '');
    if (number !== undefined) return span('number', number);
    return literal === undefined ? escapeHtml(whole) : span('literal', literal);
  });
  return `${parts.join('')}\n`;
}

const span = (kind: string, text: string) => `<span class="${kind}">${escapeHtml(text)}</span>`;

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
