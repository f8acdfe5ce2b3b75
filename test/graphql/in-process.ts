import http from 'node:http';
import { Socket } from 'node:net';

/** An answer that may not have ended. */
export interface Answering {
  readonly response: http.ServerResponse;
  /** As much of the body as there is. */
  readonly text: () => string;
  /** Resolves when the body has ended. */
  readonly ended: Promise<void>;
  /** Leaves, as a client does that reads no further. */
  readonly leave: () => void;
}

export type Send = (path: string, asked: Asked, written?: () => void) => Answering;

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Hands requests to a server of this process. Sockets and the texts of HTTP are left out, which are half of the time that a
 * small answer takes: it is for tests that ask for thousands of them.
 */
export function inProcess(server: http.Server): Send {
  return (path, { method = 'GET', headers, body }, written) => {
    const request = new http.IncomingMessage(Object.assign(new Socket(), { server }));
    Object.assign(request, { method, url: path, headers: { host: 'localhost', ...headers } });
    if (body) request.push(body);
    request.push(null);
    const answering = receive(request, written);
    server.emit('request', request, answering.response);
    return answering;
  };
}

function receive(request: http.IncomingMessage, written = () => {}): Answering {
  const response = new http.ServerResponse(request);
  const parts: Buffer[] = [];
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const leave = () => {
    response.emit('finish');
    response.emit('close');
  };
  const write = (part?: unknown) => {
    if (typeof part === 'string' || part instanceof Uint8Array) parts.push(Buffer.from(part));
    written();
    return true;
  };
  Object.assign(response, {
    write,
    end: (part?: unknown) => {
      write(part);
      end();
      leave();
      return response;
    },
  });
  return { response, ended, leave, text: () => Buffer.concat(parts).toString() };
}

/** As the global `fetch`, over `inProcess`. */
export function fetchFrom(send: Send): typeof fetch {
  const ask = async (address: string, asked: Asked) => {
    const { pathname, search } = new URL(address);
    const { response, ended, text } = send(pathname + search, asked);
    await ended;
    const { statusCode: status } = response;
    const isEmpty = status === 204 || status === 304 || asked.method === 'HEAD';
    const headers = Object.entries(response.getHeaders()).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    return new Response(isEmpty ? null : text(), { status, headers });
  };
  return ask as typeof fetch;
}
