import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type RequestListener, request } from 'node:http';
import {
  type ClientHttp2Session,
  connect,
  type IncomingHttpHeaders as Http2Headers,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createIngress,
  type IngressOptions,
  type LocalIngress,
} from '../../runtime/hosting/ingress/ingress.ts';
import type { RouteRules } from '../../runtime/hosting/ingress/route-table.ts';

/** A certificate for these hosts, signed by itself. */
export function selfSigned(...hosts: string[]): { certificate: string; key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tf-certificate-'));
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const names = hosts.map((host) => `DNS:${host}`).join(',');
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync(
    'openssl',
    ['req', '-x509', ...curve, '-keyout', key, '-out', certificate, '-days', '30'].concat(
      ...['-subj', `/CN=${hosts[0]}`, '-addext', `subjectAltName=${names}`],
    ),
    { stdio: 'ignore' },
  );
  const pair = {
    certificate: readFileSync(certificate, 'utf8'),
    key: readFileSync(key, 'utf8'),
  };
  rmSync(folder, { recursive: true });
  return pair;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
}

/** An ingress in this process with one app at `app.test`, and a client for it. */
export interface IngressRig {
  readonly ingress: LocalIngress;
  readonly http: number;
  readonly https: number;
  /** Serves `app.test` by this listener, under these rules. */
  app(listener: RequestListener, rules?: RouteRules): Promise<void>;
  ask(path?: string, asking?: Asking): Promise<Answer>;
  /** A session over HTTP/2. */
  session(): ClientHttp2Session;
  end(): Promise<void>;
}

export async function startRig(options: Partial<IngressOptions> = {}): Promise<IngressRig> {
  const ingress = createIngress({
    ...{ http: 0, https: 0, host: '127.0.0.1', now: Date.now, redirect: false },
    ...options,
  });
  const listening = await ingress.listen();
  const [http, https] = [listening.http as number, listening.https as number];
  ingress.certify('app.test', selfSigned('app.test'));
  const servers = new Set<ReturnType<typeof createServer>>();
  return {
    ...{ ingress, http, https },
    async app(listener, rules) {
      const server = createServer(listener).listen(0, '127.0.0.1');
      servers.add(server);
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      ingress.set({
        ...{ appId: 'app', name: 'app', hosts: ['app.test'], state: 'serving' },
        targets: [{ id: `target-${port}`, host: '127.0.0.1', port }],
        ...(rules && { rules }),
      });
    },
    ask: (path = '/', asking = {}) => ask(http, path, asking),
    session: () =>
      connect(`https://app.test:${https}`, {
        lookup: (_host: string, _options: unknown, done: (...given: unknown[]) => void) =>
          done(null, [{ address: '127.0.0.1', family: 4 }]),
        rejectUnauthorized: false,
        maxSessionMemory: 100,
      } as never).on('error', () => {}),
    async end() {
      await ingress.close(500);
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

function ask(port: number, path: string, { method = 'GET', headers, body }: Asking) {
  return new Promise<Answer>((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        agent: false,
        headers: { host: 'app.test', ...headers },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
        answer.on('end', () => {
          const whole = Buffer.concat(chunks);
          const { statusCode: status = 0, headers: got } = answer;
          resolve({ status, headers: got, body: whole, text: whole.toString() });
        });
      },
    );
    sent.on('error', reject).end(body);
  });
}

export interface Http2Answer {
  readonly status: number;
  readonly headers: Http2Headers;
  readonly trailers: Http2Headers;
  readonly text: string;
  /** The code of the reset; 0 means that the stream ended well. */
  readonly code: number;
}

/** Asks over HTTP/2, and resolves also when the stream is reset. */
export function ask2(
  session: ClientHttp2Session,
  path: string,
  { method = 'GET', headers = {}, body }: Asking = {},
): Promise<Http2Answer> {
  const stream = session.request(
    { ':path': path, ':method': method, ...headers },
    { endStream: body === undefined },
  );
  const seen = { status: 0, headers: {} as Http2Headers, trailers: {} as Http2Headers, text: '' };
  stream.on('response', (got) => Object.assign(seen, { headers: got, status: got[':status'] }));
  stream.on('trailers', (got) => Object.assign(seen, { trailers: got }));
  stream.setEncoding('utf8').on('data', (text: string) => (seen.text += text));
  stream.on('error', () => {});
  if (body !== undefined) stream.end(body);
  return new Promise((resolve) =>
    stream.on('close', () => resolve({ ...seen, code: stream.rstCode ?? 0 })),
  );
}
