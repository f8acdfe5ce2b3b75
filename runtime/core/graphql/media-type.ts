/** The media types of an answer, best first. */
export type Answering =
  | 'application/graphql-response+json'
  | 'application/json'
  | 'text/html'
  | 'text/event-stream';

const OFFERED: readonly Answering[] = [
  'application/graphql-response+json',
  'application/json',
  'text/event-stream',
  'text/html',
];

/** The media types for a client that accepts everything, best first. */
const OFFERED_FOR_ALL: readonly Answering[] = [
  'application/json',
  'application/graphql-response+json',
];

/**
 * The media type of the answer: the accepted one with the highest `q`, the first of equal ones;
 * `application/json` for a client that accepts everything or does not say. Undefined when it
 * accepts none of ours.
 */
export function negotiate(accept: string | undefined, html: boolean): Answering | undefined {
  if (!accept || accept === '*/*') return 'application/json';
  if (accept === 'application/json' || accept === 'application/graphql-response+json')
    return accept;
  const all = accept.split(',').map(readRange);
  const ranges = all.filter(({ q }) => q > 0).sort((a, b) => b.q - a.q);
  const refused = new Set(all.filter(({ q }) => q === 0).map(({ type }) => type));
  for (const { type } of ranges) {
    // RFC 9110, section 12.5.1: a specific type with q=0 is excluded from a range that includes it.
    if (type === '*/*' || type === 'application/*')
      return OFFERED_FOR_ALL.find((candidate) => !refused.has(candidate));
    const offered = OFFERED.find((candidate) => candidate === type);
    if (offered && (offered !== 'text/html' || html)) return offered;
  }
  return undefined;
}

function readRange(text: string): { readonly type: string; readonly q: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (charset && !/^charset="?utf-?8"?$/.test(charset)) return { type, q: 0 };
  const q = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
  return { type, q: Number.isNaN(q) ? 0 : q };
}
