import { join } from 'node:path';
import type { HostingModel } from '@twofold/schema';
import { ConfigError } from '@twofold/runtime/errors';
import type { Kernel } from '@twofold/runtime/kernel';
import { API_ROUTE, type ApiEntry } from './api-entry.ts';
import { idleRoute } from './deploy/rollout.ts';
import type { Ingress } from './ingress/ingress.ts';
import { createInlineIngress } from './ingress/inline.ts';
import { type ListenerName, type Listening, NOT_LISTENING } from './ingress/listeners.ts';
import { createRemoteIngress } from './ingress/remote.ts';
import type { AppRepository } from './records/app-repository.ts';
import { createIngressRecords } from './records/settings-table.ts';
import type { Certificates } from './tls/certificates.ts';

/** Milliseconds that an ingress process continues to serve when no server is connected to it. */
const STANDALONE_TIME = 10 * 60_000;
/** Outside production: longer than the lease of a server that was killed. */
const SHORT_STANDALONE_TIME = 20_000;
/** The longest time of a timer of Node, 25 days. */
const FOREVER = 2 ** 31 - 1;

/**
 * The ingress is a separate process, which keeps running while the server restarts. With
 * `HOSTING_INGRESS=inline`, or a database in memory, in which no later server would find the process,
 * it is a part of the server.
 */
export function chooseIngress(kernel: Kernel, model: HostingModel): Ingress {
  const { settings, project, store, now, log } = kernel;
  const kind = oneOf(kernel, 'HOSTING_INGRESS', ['process', 'inline']);
  const options = {
    http: model.ingress.http,
    https: model.ingress.https,
    http2: model.ingress.http2,
    host: settings.text('HOST', project.server.host),
    redirect: oneOf(kernel, 'HOSTING_REDIRECT', ['on', 'off']) !== 'off',
    trustedProxies: project.server.trustedProxies,
    accessLog: accessLogOf(kernel, model),
    records: createIngressRecords(store),
  };
  if (kind === 'inline' || settings.text('DATABASE_URL') === ':memory:')
    return createInlineIngress({ ...options, now });
  // As a service of its own, the ingress is ended by whoever looks after services.
  const launcher = settings.text('HOSTING_LAUNCHER') || null;
  const alone = settings.production ? STANDALONE_TIME : SHORT_STANDALONE_TIME;
  return createRemoteIngress({
    ...options,
    launcher,
    alone: launcher === null ? alone : FOREVER,
    log,
  });
}

/** The folder of the access log; null when the manifest has none. */
export const accessLogOf = ({ root }: Kernel, { ingress }: HostingModel): string | null =>
  ingress.accessLog ? join(root, 'data', 'requests') : null;

/** @returns undefined when it is not set. @throws ConfigError for any other value. */
export function oneOf<const T extends string>(
  { settings }: Pick<Kernel, 'settings'>,
  name: string,
  allowed: readonly T[],
): T | undefined {
  const text = settings.text(name);
  if (text === undefined || text === '') return undefined;
  const found = allowed.find((value) => value === text);
  if (found !== undefined) return found;
  throw new ConfigError([`${name} must be ${allowed.join(' or ')}`]);
}

interface FrontParts {
  readonly model: HostingModel;
  readonly apps: AppRepository;
  readonly ingress: Ingress;
  readonly entry: ApiEntry;
  readonly certificates: Certificates;
}

/** The ports that clients reach: where they lead to, and what their addresses are. */
export interface Front {
  ports(): Listening;
  /** The URL of a domain, with the scheme and the port of the ingress. */
  addressOf(domain: string): string;
  /** Opens the listeners. Requests for an app whose containers are not known yet wait. */
  listen(): Promise<void>;
}

export function createFront(
  kernel: Kernel,
  { model, apps, ingress, entry, certificates }: FrontParts,
): Front {
  let ports: Listening = NOT_LISTENING;
  // From its first moment an app has a page that says that it does not run.
  apps.onChange((app) => {
    if (app.deployment === null && !ingress.get(app.id)) ingress.set(idleRoute(app, 'stopped'));
  });
  return {
    ports: () => ports,
    addressOf(domain) {
      const secure = ports.https !== null && certificates.has(domain);
      const [scheme, port, usual] = secure ? ['https', ports.https, 443] : ['http', ports.http, 80];
      return `${scheme}://${domain}${port === null || port === usual ? '' : `:${port}`}`;
    },
    async listen() {
      routeUnknown(apps, ingress);
      entry.route(ingress);
      ports = await ingress.listen();
      refusePorts(kernel, model, ports);
    },
  };
}

/** Gives a route to each app that has none, and removes the routes of apps that no longer exist. */
function routeUnknown(apps: AppRepository, ingress: Ingress): void {
  for (const app of apps.all()) {
    const runs = app.desired === 'running' && app.deployment !== null;
    if (!ingress.get(app.id)) ingress.set(idleRoute(app, runs ? 'holding' : 'stopped'));
  }
  ingress.keep([API_ROUTE, ...apps.all().map(({ id }) => id)]);
}

/**
 * In production a server without its ports must exit with an error, so that the process manager
 * reports it. In development it runs on, and `/api/health` shows that apps cannot be reached.
 *
 * @throws ConfigError
 */
function refusePorts(
  { log, settings }: Kernel,
  { ingress }: HostingModel,
  { refused }: Listening,
): void {
  const problems = Object.entries(refused).map(([name, code]) => {
    const key = `hosting.ingress.${name}`;
    const why =
      code === 'EADDRINUSE'
        ? 'is in use, by another program or by another installation: stop it'
        : code === 'EACCES'
          ? 'needs more rights: let the server bind it (CAP_NET_BIND_SERVICE)'
          : `cannot be listened on (${code}): look at HOST`;
    return `${key}: port ${ingress[name as ListenerName]} ${why}, or set ${key} to another port`;
  });
  if (problems.length === 0) return;
  if (settings.production) throw new ConfigError(problems);
  for (const problem of problems) log.warn(`apps cannot be reached: ${problem}`);
}
