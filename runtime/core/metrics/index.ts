import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Middleware } from 'koa';
import { ConfigError, failure } from '../errors.ts';
import { hasScope } from '../context/scopes.ts';
import type { RequestContext } from '../context/request-context.ts';
import { type BoundRoute, reply } from '../http/route.ts';
import type { Kernel, ServerModule } from '../module.ts';
import { addProcessMetrics } from './process-metrics.ts';
import { PROMETHEUS, renderFamilies } from './render.ts';
import { addConnectionMetrics } from './statement-metrics.ts';
import { createAllMetrics } from './worker-metrics.ts';

/** The scope of an API key that may read the page. */
const SCOPE = 'metrics:read';
const LEAST_TOKEN = 16;
/** Milliseconds that a module has for its part of the page. */
const PART_WITHIN = 5000;
const LOOPBACK = '127.0.0.1';

/**
 * The page of figures, `/metrics`: of this process and its siblings, and of each module.
 *
 * @throws ConfigError, with the other problems of the settings, when no caller could read it.
 */
export function createMetricsModule(
  kernel: Kernel,
  modules: () => readonly ServerModule[],
): ServerModule {
  const { metrics, project, store } = kernel;
  const settings = project.observability?.metrics;
  if (!metrics || !settings) throw new ConfigError(['observability.metrics is off']);
  const { path, port } = settings;
  const token = tokenOf(
    kernel,
    modules().some(({ revalidate }) => revalidate),
  );
  const all = createAllMetrics(() => metrics.snapshot());
  const endProcess = addProcessMetrics(metrics);
  addConnectionMetrics(metrics, () => store.connections());
  const page = async (context: RequestContext) => {
    const parts = modules().map((module) => partOf(module, context, kernel));
    return renderFamilies(await all.families()) + (await Promise.all(parts)).join('');
  };
  let own: Server | undefined;
  return {
    name: 'metrics',
    port,
    always: true,
    listens: port !== null,
    before: [byToken(path, token, page)],
    routes: [byKey(path, page)],
    start: () => all.start(),
    listen: async (listener) => {
      if (port !== null) own = await listenOn(port, listener);
    },
    leave: () => void own?.close(),
    stop: async () => {
      own?.closeAllConnections();
      all.stop();
      endProcess();
    },
  };
}

/**
 * The setting as a digest, because texts of equal length can be compared in constant time.
 *
 * @param hasKeys whether the server knows API keys.
 */
function tokenOf({ settings }: Kernel, hasKeys: boolean): Buffer | undefined {
  const token = settings.text('METRICS_TOKEN');
  if (token !== undefined && token.length < LEAST_TOKEN)
    settings.problem(`METRICS_TOKEN must have at least ${LEAST_TOKEN} characters`);
  if (token === undefined && !hasKeys)
    settings.problem(
      `observability.metrics is on, and nobody could read the page: set METRICS_TOKEN (at least ${LEAST_TOKEN} characters), or add auth: to manifest.yaml and make an API key with the scope ${SCOPE}`,
    );
  return token === undefined ? undefined : digest(token);
}

const digest = (text: string) => createHash('sha256').update(text).digest();

type Page = (context: RequestContext) => Promise<string>;

/**
 * Answers a request with the token before the callers of the server are looked up, for whom it
 * would be a wrong token.
 */
function byToken(path: string, token: Buffer | undefined, page: Page): Middleware {
  return async function metricsByToken(ctx, next) {
    if (!token || ctx.path !== path || (ctx.method !== 'GET' && ctx.method !== 'HEAD'))
      return next();
    const given = /^Bearer (\S+)$/i.exec(ctx.get('Authorization'))?.[1];
    if (given === undefined || !timingSafeEqual(digest(given), token)) return next();
    ctx.set({ 'Content-Type': PROMETHEUS, 'Cache-Control': 'no-store' });
    ctx.body = await page(ctx.state['context']);
  };
}

/** Answers a request with an API key, and refuses all others. */
function byKey(path: string, page: Page): BoundRoute {
  return {
    spec: {
      id: 'metrics',
      method: 'GET',
      path,
      access: 'public',
      security: ['bearer', 'api_key'],
      tag: 'system',
      summary: 'Returns the figures of the server for Prometheus',
      responses: {
        200: { description: 'Prometheus text', type: 'text/plain' },
        401: { description: `Neither METRICS_TOKEN nor an API key with the scope ${SCOPE}` },
      },
    },
    handle: async ({ context }) => {
      const { principal } = context;
      if (principal.kind !== 'api_key' || !hasScope(principal.scopes, SCOPE))
        throw failure.unauthenticated(undefined, {
          headers: { 'WWW-Authenticate': 'Bearer realm="metrics"' },
        });
      return reply(200, await page(context), {
        'Content-Type': PROMETHEUS,
        'Cache-Control': 'no-store',
      });
    },
  };
}

/** What a module adds. One that cannot answer is left out, so that the others can be read. */
async function partOf(
  module: ServerModule,
  context: RequestContext,
  { log }: Kernel,
): Promise<string> {
  if (!module.metrics) return '';
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('it took too long')), PART_WITHIN);
  try {
    return await Promise.race([module.metrics(context), late.promise]);
  } catch (error) {
    log.warn({ module: module.name, error: String(error) }, 'figures are missing');
    return '';
  } finally {
    clearTimeout(timer);
  }
}

async function listenOn(port: number, listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new ConfigError([`observability.metrics.port ${port} is in use: choose another`])
          : error,
      ),
    );
    server.listen(port, LOOPBACK, resolve);
  });
  return server;
}
