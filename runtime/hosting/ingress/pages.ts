import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';

/** The ingress's own responses, for requests that no app can answer. */
const PAGES = {
  badRequest: { status: 400, title: 'Bad request', text: 'This request cannot be passed on.' },
  unknown: { status: 404, title: 'Nothing here', text: 'No app has this address.' },
  badGateway: {
    status: 502,
    title: 'The app did not answer',
    text: 'It may be starting again. Try once more in a moment.',
  },
  stopped: { status: 503, title: 'The app is stopped', text: 'Its owner can start it again.' },
  busy: {
    status: 503,
    title: 'The app has too many open connections',
    text: 'Try once more in a moment.',
  },
  unavailable: { status: 503, title: 'The app is not ready', text: 'Try once more in a moment.' },
  timeout: {
    status: 504,
    title: 'The app took too long',
    text: 'It has the request, and gave no answer in time.',
  },
} as const;

export type IngressPage = keyof typeof PAGES;

/** Sends a page to browsers, and `{"error"}` to programs. */
export function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  page: IngressPage,
): void {
  const { status, title, text } = PAGES[page];
  const html = (request.headers.accept ?? '').includes('text/html');
  const body = html ? render(title, text) : JSON.stringify({ error: title });
  // The reason is passed because `writeHead` otherwise reuses the reason of a response that it
  // refused, and refuses again.
  response.writeHead(status, STATUS_CODES[status], {
    'Content-Type': html ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    ...(status === 503 && { 'Retry-After': '2' }),
    // An unread body would be taken for the next request on this connection.
    ...(request.complete ? {} : { Connection: 'close' }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/**
 * Redirects to the same path over TLS. 308 keeps the method (RFC 9110 §15.4.9). Not cached, because
 * certificates can expire.
 */
export function sendToSecure(
  request: IncomingMessage,
  response: ServerResponse,
  location: string,
): void {
  response
    .writeHead(308, {
      Location: location,
      'Content-Length': 0,
      'Cache-Control': 'no-store',
      ...(request.complete ? {} : { Connection: 'close' }),
    })
    .end();
}

/** The same response as bytes, for a socket that asked for an upgrade. */
export function pageHead(page: IngressPage): string {
  const { status, title } = PAGES[page];
  const body = JSON.stringify({ error: title });
  return `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${status === 503 ? 'Retry-After: 2\r\n' : ''}Connection: close\r\n\r\n${body}`;
}

function render(title: string, text: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem;color-scheme:light dark}</style>
<h1>${title}</h1><p>${text}</p></html>\n`;
}
