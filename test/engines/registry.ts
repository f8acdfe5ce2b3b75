import { createHash, randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { writeArchive } from './archive.ts';
import { needCommand } from './command.ts';
import { imageRecipes } from './image-recipes.ts';

/** A registry on loopback with one user. */
export interface TestRegistry {
  /** `127.0.0.1` with its port. */
  readonly host: string;
  /** The user whom it takes; `null` takes everybody. */
  user: { name: string; password: string } | null;
  /** Every request of both servers, with what it was sent as credentials. */
  readonly requests: { readonly at: 'registry' | 'storage'; url: string; sent: string }[];
  close(): void;
}

interface Blob {
  readonly digest: string;
  readonly bytes: Buffer;
}

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';

/**
 * Starts a registry with one image, `web:1`, which is made from this machine's programs. It asks for a password itself
 * (`basic`) or sends its callers for a token (`token`), and its layers are behind a redirect to another host, as with
 * the registries of clouds. It speaks TLS: Podman trusts its certificate by a file in the user's folder, and Docker
 * trusts every registry on loopback.
 */
export async function startRegistry(auth: 'basic' | 'token'): Promise<TestRegistry> {
  const pair = certificate();
  const { blobs, manifest } = image();
  const tokens = new Set<string>();
  const requests: TestRegistry['requests'] = [];
  const note = (at: 'registry' | 'storage', { url = '', headers }: IncomingMessage) =>
    requests.push({ at, url, sent: headers.authorization ?? '' });

  const storage = createHttpServer((request, response) => {
    note('storage', request);
    const blob = blobs.find(({ digest }) => request.url === `/${digest}`);
    response.writeHead(blob ? 200 : 404).end(blob?.bytes);
  });
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    note('registry', request);
    const { pathname } = new URL(request.url ?? '/', 'https://registry');
    if (pathname === '/token') return void answerToken(request.headers, response);
    if (!isAllowed(request.headers))
      return void refuse(response, auth === 'basic' ? 'Basic realm="test"' : bearer());
    if (pathname === '/v2/') return void response.writeHead(200).end('{}');
    const digest = /^\/v2\/web\/blobs\/(.+)$/.exec(pathname)?.[1];
    if (digest)
      return void response
        .writeHead(307, { location: `http://localhost:${portOf(storage)}/${digest}` })
        .end();
    if (!/^\/v2\/web\/manifests\/(1|sha256:.+)$/.test(pathname))
      return void response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN"}]}');
    const headers = { 'content-type': MANIFEST, 'docker-content-digest': manifest.digest };
    response.writeHead(200, { ...headers, 'content-length': manifest.bytes.length });
    response.end(request.method === 'HEAD' ? undefined : manifest.bytes);
  };
  const [encrypted, plain] = [createServer(pair, answer), createHttpServer(answer)];
  // Docker tries a registry on loopback without TLS too, and reports the error of the last attempt.
  const served = createTcpServer((socket) => {
    socket.once('data', (first) => {
      const inner = connect(portOf(first[0] === 0x16 ? encrypted : plain), '127.0.0.1');
      inner.write(first);
      pipeline(socket, inner, socket, () => {});
    });
  });
  const host = () => `127.0.0.1:${portOf(served)}`;
  const bearer = () =>
    `Bearer realm="https://${host()}/token",service="test",scope="repository:web:pull"`;
  const isUser = ({ authorization = '' }: IncomingHttpHeaders) =>
    registry.user === null ||
    authorization ===
      `Basic ${Buffer.from(`${registry.user.name}:${registry.user.password}`).toString('base64')}`;
  const isAllowed = (headers: IncomingHttpHeaders) =>
    registry.user === null ||
    (auth === 'basic' ? isUser(headers) : tokens.has(headers.authorization ?? ''));
  const answerToken = (headers: IncomingHttpHeaders, response: ServerResponse) => {
    if (!isUser(headers)) return refuse(response, 'Basic realm="test"');
    const token = randomBytes(12).toString('hex');
    tokens.add(`Bearer ${token}`);
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ token, access_token: token, expires_in: 60 }));
  };
  await Promise.all([served, storage, encrypted, plain].map(listen));
  const trust = trustCertificate(host(), pair.cert);
  const registry: TestRegistry = {
    host: host(),
    user: { name: 'ann', password: `pass-${randomBytes(6).toString('hex')}` },
    requests,
    close() {
      rmSync(trust, { recursive: true, force: true });
      for (const server of [encrypted, plain, storage]) server.closeAllConnections();
      for (const server of [served, storage, encrypted, plain]) server.close();
    },
  };
  return registry;
}

function refuse(response: ServerResponse, challenge: string): void {
  const error = { code: 'UNAUTHORIZED', message: 'authentication required' };
  response.writeHead(401, { 'www-authenticate': challenge, 'content-type': 'application/json' });
  response.end(JSON.stringify({ errors: [error] }));
}

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;

const listen = (server: Server) =>
  new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

/** The image of a small web server as a registry keeps it. */
function image(): { readonly blobs: readonly Blob[]; readonly manifest: Blob } {
  const recipe = imageRecipes['twofold-test/web:1']();
  const folder = mkdtempSync(join(tmpdir(), 'tf-registry-'));
  const root = join(folder, 'root');
  mkdirSync(root);
  recipe.fill(root);
  // Each registry has a layer of its own, so that an engine cannot already have it.
  writeFileSync(join(root, 'etc', 'registry'), randomBytes(16).toString('hex'));
  writeArchive(root, join(folder, 'layer.tar'));
  const tar = readFileSync(join(folder, 'layer.tar'));
  rmSync(folder, { recursive: true });
  const layer = blobOf(gzipSync(tar, { level: 1 }));
  const config = blobOf(
    JSON.stringify({
      architecture: { x64: 'amd64' }[process.arch as string] ?? process.arch,
      os: 'linux',
      created: '1970-01-01T00:00:00Z',
      config: {
        Cmd: recipe.command,
        Env: ['PATH=/bin:/usr/bin'],
        ExposedPorts: { '8080/tcp': {} },
        WorkingDir: recipe.folder,
      },
      rootfs: { type: 'layers', diff_ids: [blobOf(tar).digest] },
      history: [{ created: '1970-01-01T00:00:00Z', created_by: 'test/engines' }],
    }),
  );
  const part = (mediaType: string, { digest, bytes }: Blob) => ({
    mediaType: `application/vnd.docker.${mediaType}`,
    size: bytes.length,
    digest,
  });
  const manifest = blobOf(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: part('container.image.v1+json', config),
      layers: [part('image.rootfs.diff.tar.gzip', layer)],
    }),
  );
  return { blobs: [layer, config], manifest };
}

function blobOf(content: string | Buffer): Blob {
  const bytes = Buffer.from(content);
  return { bytes, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` };
}

function certificate(): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tf-registry-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  args.push('-nodes', '-days', '2', '-subj', '/CN=127.0.0.1', '-keyout', key, '-out', cert);
  args.push('-addext', 'subjectAltName=IP:127.0.0.1');
  execFileSync(needCommand('openssl', 'openssl'), args, { stdio: 'ignore' });
  const pair = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(folder, { recursive: true });
  return pair;
}

/** Where Podman looks for the authorities of one registry. */
function trustCertificate(host: string, cert: string): string {
  const folder = join(homedir(), '.config/containers/certs.d', host);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'ca.crt'), cert);
  return folder;
}
