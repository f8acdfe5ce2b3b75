// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import type { HostingModel } from '@twofold/hosting';
import { duration, size } from '@twofold/runtime';

/** What this server hosts, and within which limits: the manifest's `hosting` section with every default filled in. */
export const hostingSettings: HostingModel = {
  engine: { kind: 'auto', socket: null },
  domain: 'apps.localhost',
  access: 'host',
  defaults: { port: 8080, memory: size('512MiB'), cpus: 1, pids: 512 },
  deploys: { keep: 5, readyTimeout: duration('1m'), drain: duration('30s') },
  build: {
    timeout: duration('15m'),
    memory: size('2GiB'),
    concurrency: 1,
    buildkit: 'auto',
    cache: size('10GiB'),
    allowAddUrl: false,
    from: ['*'],
  },
  source: { max: size('256MiB'), maxUnpacked: size('2GiB'), entries: 50000 },
  git: { allowHttp: false, allowPrivate: false },
  ingress: {
    http: 80,
    https: 443,
    ports: '1024-65535',
    http2: true,
    accessLog: true,
    api: true,
    acme: { email: null, directory: null },
  },
  registry: null,
  previews: { limit: 10, expire: duration('3d') },
  diskFloor: size('2GiB'),
  templates: 'templates/',
  backups: { directory: 'data/backups' },
  models: { directory: 'data/models', engine: 'auto', list: [], maxSize: size('50GiB') },
};
