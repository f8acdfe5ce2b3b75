import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { HostingModel } from '@twofold/schema';
import type { Call } from '@twofold/runtime/http';
import {
  type Kernel,
  type RequestContext,
  type RevalidateCaller,
  type ServerModule,
  VERSION,
  type Capability,
} from '@twofold/runtime/kernel';
import { createApiEntry } from './api-entry.ts';
import { type HostedPart, hostedParts } from './hosted-part.ts';
import { connectEngine } from './engine/connect.ts';
import { FIGURES } from './flows/figures.ts';
import { hostingFlows } from './flows/index.ts';
import { createOperator, type Operator } from './operator/operator.ts';
import { hostingMigrations } from './records/migrations.ts';
import { createIngressRecords } from './records/settings-table.ts';
import { createSeal, sealingSecrets } from './records/seal.ts';
import type { OnStep } from './host/steps.ts';
import { loadTemplates } from './templates/templates.ts';
import { createLeaderSession, ingressState } from './leader-session.ts';
import { isTerminalPath } from './terminals/upgrade.ts';
import { validator } from './validator.ts';

export interface HostingOptions {
  readonly kernel: Kernel;
  readonly model: HostingModel;
  /** Other capabilities that work in the leader. */
  readonly parts?: readonly HostedPart[];
  /** Called after each step of a deployment. Tests use it to kill a server at one step. */
  readonly onStep?: OnStep;
  /** Milliseconds after which a move ends when its command is silent. */
  readonly movePatience?: number;
}

/**
 * The API for container apps: apps, deployments, the ingress to them, and their supervision.
 *
 * @throws ConfigError when a template file of the project is wrong.
 * @example
 * const hosting = await createHosting({ kernel, model: project.hosting });
 */
export async function createHosting({
  kernel,
  model,
  parts = [],
  onStep = () => {},
  movePatience = 30_000,
}: HostingOptions): Promise<ServerModule> {
  const { now, root } = kernel;
  const templates = await loadTemplates(join(root, model.templates));
  const seal = createSeal(sealingSecrets(kernel.settings, root));
  const served = [...hostingFlows, ...parts.flatMap(({ flows }) => flows)];
  const specs = [...served, FIGURES];
  let revalidate: RevalidateCaller | null = null;
  const entry = createApiEntry(kernel, model);
  const operator = createOperator({
    kernel,
    specs,
    createLeaderSession: () =>
      createLeaderSession(kernel, parts, {
        model,
        seal,
        templates,
        onStep,
        entry,
        movePatience,
        revalidate: () => revalidate,
      }),
  });
  return {
    name: 'hosting',
    listens: true,
    migrations: [...hostingMigrations, ...parts.flatMap(({ hosted }) => hosted.migrations ?? [])],
    before: parts.flatMap(({ hosted }) => hosted.before?.(kernel) ?? []),
    routes: served.map((spec) => ({ spec, handle: operator.answer })),
    ...(kernel.metrics && { metrics: (context) => figuresOf(operator, context) }),
    validator,
    health: async () => ({
      ...(operator.operates() ? await operator.session().state() : await lookAround(kernel, model)),
      version: VERSION,
      timestamp: new Date(now()).toISOString(),
    }),
    knowCallers: (given) => void (revalidate = given),
    upgrade(request, socket, head) {
      if (!isTerminalPath(request)) return false;
      operator.upgrade(request, socket, head);
      return true;
    },
    async serve(server) {
      await entry.open(server);
      if (operator.operates()) operator.session().routeApi();
    },
    async retire() {
      if (operator.operates()) await operator.session().retire();
    },
    leave: () => operator.leave(),
    start: () => operator.start(),
    async stop() {
      await operator.stop();
      entry.close();
    },
  };
}

async function figuresOf({ answer }: Operator, context: RequestContext): Promise<string> {
  const call = { route: FIGURES, params: {}, query: {}, body: undefined, context, koa: undefined };
  const { body } = await answer(call as unknown as Call);
  return typeof body === 'string' ? body : readText(body as Readable);
}

/** A process that is not the leader connects to the engine only to report its state. */
async function lookAround({ settings, store }: Kernel, { engine }: HostingModel) {
  const found = await connectEngine(engine, settings.env).catch(() => null);
  const record = await createIngressRecords(store).read();
  return {
    podman: found ? 'connected' : 'disconnected',
    engine: found?.kind ?? null,
    ingress: ingressState(record ?? { http: null, https: null }),
  };
}

/**
 * Hosting of container apps, configured by the manifest's `hosting` section.
 *
 * @example defineApp({ project, capabilities: [auth(), hosting(), models()] });
 */
export function hosting(): Capability {
  return {
    name: 'hosting',
    flows: hostingFlows,
    create: (kernel, all) => {
      const model = kernel.project.hosting;
      if (!model) return model;
      const parts = hostedParts(all);
      return createHosting({ kernel, model: onThisHost(model, kernel.settings), parts });
    },
  };
}

/**
 * The model with the settings of this machine, which win over the manifest: one project can be
 * installed on several hosts.
 *
 * @example onThisHost(model, settings).domain // the value of HOSTING_DOMAIN
 */
export function onThisHost(model: HostingModel, settings: Kernel['settings']): HostingModel {
  const { acme } = model.ingress;
  const email = settings.text('ACME_EMAIL') || acme.email;
  return {
    ...model,
    domain: settings.text('HOSTING_DOMAIN') || model.domain,
    ingress: { ...model.ingress, acme: { ...acme, email } },
  };
}

/** A server never needs this code, so it is loaded by the command that does. */
type RestoreHost = typeof import('./backups/host-restore.ts').restoreHostApp;

/**
 * Brings the database and the keys of a server back on an empty host, for `generator host restore`.
 * The server restores its apps when it starts.
 *
 * @throws AppError `BACKUP_KEY_WRONG`, `BACKUP_DAMAGED`, `BACKUP_MISSING`, `HOST_NOT_EMPTY`
 * @example await restoreHostApp(app, { target: '/mnt/backups', key: process.env.BACKUP_KEY });
 */
export const restoreHostApp: RestoreHost = async (...given) =>
  (await import('./backups/host-restore.ts')).restoreHostApp(...given);
