import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compareVersions } from '../schema/releases.ts';
import type { Pack } from './read-pack.ts';

/** A local npm registry that serves our packs. */
export interface Registry {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves packs on the loopback as a registry does: a document for each package, and the tarballs.
 */
export async function serveRegistry(packs: readonly Pack[]): Promise<Registry> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1);
    const url = `http://${request.headers.host}`;
    const asked = packs.filter(({ manifest }) => manifest.name === path);
    const tarball = packs.find(({ file }) => path === `-/${file}`);
    if (asked.length > 0)
      response.setHeader('content-type', 'application/json').end(documentOf(asked, url));
    else if (tarball) response.end(tarball.bytes);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => (server.close(() => resolve()), server.closeAllConnections())),
  };
}

/** The document of a package with all of its versions; the newest one is `latest`. */
function documentOf(packs: readonly Pack[], url: string): string {
  const sorted = packs.toSorted((a, b) => compareVersions(a.manifest.version, b.manifest.version));
  const versions = sorted.map(({ manifest, bytes, file }) => {
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    return [manifest.version, { ...manifest, dist: { tarball: `${url}/-/${file}`, integrity } }];
  });
  const latest = sorted.at(-1)?.manifest;
  return JSON.stringify({
    name: latest?.name,
    'dist-tags': { latest: latest?.version },
    versions: Object.fromEntries(versions),
  });
}
