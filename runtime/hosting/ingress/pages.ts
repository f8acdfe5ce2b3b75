import { STATUS_CODES } from 'node:http';
import type { ClientRequest, ClientResponse } from './client.ts';

/** The ingress's own responses, for requests that no app can answer. */
const PAGES = {
  badRequest: { status: 400, title: 'Bad request', text: 'This request cannot be passed on.' },
  unauthorized: { status: 401, title: 'Sign in', text: 'This app asks for a name and a password.' },
  forbidden: { status: 403, title: 'Not from here', text: 'Your address may not use this app.' },
  unknown: { status: 404, title: 'Nothing here', text: 'No app has this address.' },
  tooLarge: { status: 413, title: 'Too large', text: 'The app takes no body of this size.' },
  tooMany: { status: 429, title: 'Too many requests', text: 'Try once more in a moment.' },
  badGateway: {
    status: 502,
    title: 'The app did not answer',
    text: 'It may be starting again. Try once more in a moment.',
  },
  stopped: { status: 503, title: 'The app does not run', text: 'Its owner can start it again.' },
  busy: {
    status: 503,
    title: 'The app has too many open connections',
    text: 'Try once more in a moment.',
  },
  maintenance: {
    status: 503,
    title: 'Down for maintenance',
    text: 'The app will be back soon.',
  },
  unavailable: { status: 503, title: 'The app is not ready', text: 'Try once more in a moment.' },
  loop: {
    status: 508,
    title: 'The app has moved in a circle',
    text: 'Two servers say that the other one has it.',
  },
  timeout: {
    status: 504,
    title: 'The app took too long',
    text: 'It has the request, and gave no answer in time.',
  },
} as const;

export type IngressPage = keyof typeof PAGES;

/** The owner's own text for a page, and further header fields. */
export interface PageDetails {
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a page to browsers, and `{"error"}` to programs. */
export function sendPage(
  request: ClientRequest,
  response: ClientResponse,
  page: IngressPage,
  { text, headers }: PageDetails = {},
): void {
  const { status, title, text: usual } = PAGES[page];
  const html = (request.headers.accept ?? '').includes('text/html');
  const body = html
    ? render(title, text ?? usual)
    : JSON.stringify({ error: title, ...(text !== undefined && { message: text }) });
  // The reason is passed because `writeHead` otherwise reuses the reason of a response that it
  // refused, and refuses again.
  response.writeHead(status, STATUS_CODES[status], {
    'Content-Type': html ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    ...(status === 503 && { 'Retry-After': '2' }),
    ...headers,
    // An unread body would be taken for the next request on this connection.
    ...(request.complete ? {} : { Connection: 'close' }),
  });
  const sent = request.method === 'HEAD' ? '' : body;
  // The rest of a bad request cannot be read, so nothing is waited for.
  if (request.complete || request.readableEnded || page === 'badRequest') response.end(sent);
  else endAfterBody(request, response, sent);
}

/** Milliseconds in which the rest of a request body is read and thrown away. */
const LINGER_TIME = 1000;

/**
 * Sends the whole response, and closes the connection only when the client has sent its body or
 * after a moment. If it were closed at once, the system of a client that still sends would drop the
 * response unread (RFC 9112 §9.6).
 */
function endAfterBody(request: ClientRequest, response: ClientResponse, body: string): void {
  if (body !== '') response.write(body);
  else response.flushHeaders();
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_TIME);
  request.on('data', () => {});
  request.on('end', end);
  request.resume();
  response.on('close', () => clearTimeout(timer));
}

/**
 * Redirects to the same path over TLS. 308 keeps the method (RFC 9110 §15.4.9). Not cached, because
 * certificates can expire.
 */
export function sendToSecure(
  request: ClientRequest,
  response: ClientResponse,
  location: string,
): void {
  response.writeHead(308, undefined, {
    Location: location,
    'Content-Length': 0,
    'Cache-Control': 'no-store',
    ...(request.complete ? {} : { Connection: 'close' }),
  });
  response.end();
}

/** The same response as bytes, for a socket that asked for an upgrade. */
export function pageHead(page: IngressPage, { headers = {} }: PageDetails = {}): string {
  const { status, title } = PAGES[page];
  const body = JSON.stringify({ error: title });
  const fields = {
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
    ...(status === 503 && { 'Retry-After': '2' }),
    ...headers,
    Connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

export const statusOf = (page: IngressPage): number => PAGES[page].status;

const escapeHtml = (text: string) =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

function render(title: string, text: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem;color-scheme:light dark}</style>
<h1>${title}</h1><p>${escapeHtml(text)}</p></html>\n`;
}
