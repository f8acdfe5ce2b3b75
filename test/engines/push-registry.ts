import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A registry that keeps in memory what is pushed to it. */
export interface PushRegistry {
  /** Its address with its port. */
  readonly host: string;
  /** The user whom it takes; `null` takes everybody. */
  user: { readonly name: string; readonly password: string } | null;
  /** The names that manifests were pushed by, such as `team/shop:1`. */
  readonly pushed: readonly string[];
  /** The manifests that were asked for by their digests, with the address of who asked. */
  readonly pulled: readonly { readonly reference: string; readonly from: string }[];
  close(): void;
}

interface Manifest {
  readonly bytes: Buffer;
  readonly type: string;
}

const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Starts a registry without TLS (OCI distribution, with uploads in one or several pieces) at an address of this machine. */
export async function startPushRegistry(address: string): Promise<PushRegistry> {
  const blobs = new Map<string, Buffer>();
  const uploads = new Map<string, Buffer>();
  const manifests = new Map<string, Manifest>();
  const pushed: string[] = [];
  const pulled: PushRegistry['pulled'][number][] = [];

  const answerUpload = async (request: IncomingMessage, response: ServerResponse, url: URL) => {
    const id = url.pathname.split('/').at(-1) || randomBytes(8).toString('hex');
    const bytes = Buffer.concat([uploads.get(id) ?? Buffer.alloc(0), await buffer(request)]);
    const digest = url.searchParams.get('digest');
    uploads.set(id, bytes);
    if (digest === null || request.method !== 'PUT') {
      const path = url.pathname.replace(/uploads\/.*$/, `uploads/${id}`);
      const range = `0-${Math.max(0, bytes.length - 1)}`;
      return response.writeHead(202, { location: path, range, 'docker-upload-uuid': id }).end();
    }
    uploads.delete(id);
    if (digestOf(bytes) !== digest) return response.writeHead(400).end();
    blobs.set(digest, bytes);
    return response.writeHead(201, { 'docker-content-digest': digest }).end();
  };
  const putManifest = async (request: IncomingMessage, response: ServerResponse, name: string) => {
    const bytes = await buffer(request);
    const manifest = { bytes, type: request.headers['content-type'] ?? '' };
    const digest = digestOf(bytes);
    const [repository] = name.split(/[:@]/);
    for (const key of [name, `${repository}@${digest}`]) manifests.set(key, manifest);
    pushed.push(name);
    response.writeHead(201, { 'docker-content-digest': digest }).end();
  };
  const getManifest = (request: IncomingMessage, response: ServerResponse, name: string) => {
    const found = manifests.get(name);
    if (!found)
      return response
        .writeHead(404)
        .end('{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}');
    const from = request.socket.remoteAddress ?? '';
    if (name.includes('@') && request.method === 'GET') pulled.push({ reference: name, from });
    const { bytes, type } = found;
    const digest = digestOf(bytes);
    response.writeHead(200, {
      ...{ 'content-type': type, 'docker-content-digest': digest, 'content-length': bytes.length },
    });
    return response.end(request.method === 'HEAD' ? undefined : bytes);
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://registry');
    const { pathname } = url;
    const credentials = registry.user && `${registry.user.name}:${registry.user.password}`;
    const wanted = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
    if (wanted && request.headers.authorization !== wanted)
      return response
        .writeHead(401, { 'www-authenticate': 'Basic realm="test"' })
        .end('{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}');
    if (pathname === '/v2/') return response.writeHead(200).end('{}');
    if (/\/blobs\/uploads\//.test(pathname)) return answerUpload(request, response, url);
    const [, repository, kind, what = ''] =
      /^\/v2\/(.+)\/(blobs|manifests)\/([^/]+)$/.exec(pathname) ?? [];
    const blob = kind === 'blobs' ? blobs.get(what) : undefined;
    if (blob) {
      response.writeHead(200, { 'content-length': blob.length, 'docker-content-digest': what });
      return response.end(request.method === 'HEAD' ? undefined : blob);
    }
    if (kind !== 'manifests') return response.writeHead(404).end();
    const name = `${repository}${what.startsWith('sha256:') ? '@' : ':'}${what}`;
    return request.method === 'PUT'
      ? putManifest(request, response, name)
      : getManifest(request, response, name);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, address);
  await once(server, 'listening');
  const registry: PushRegistry = {
    host: `${address}:${(server.address() as AddressInfo).port}`,
    user: { name: 'ann', password: `pass-${randomBytes(6).toString('hex')}` },
    ...{ pushed, pulled },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return registry;
}
