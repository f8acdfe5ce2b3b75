import { Readable } from 'node:stream';
import { failure } from '@twofold/runtime/errors';
import { bytesOf, type Call, reply } from '@twofold/runtime/http';
import { VERSION } from '@twofold/runtime/kernel';
import { assertTarget, readKey } from '../moves/arrival.ts';
import { volumesOf } from '../moves/departure.ts';
import { assertMovable } from '../moves/describe.ts';
import type { Moves } from '../moves/moves.ts';
import type { HostedApp } from '../records/app.ts';
import { volumeName } from '../deploy/containers.ts';

interface ExportBody {
  readonly move: string;
  readonly step: 'check' | 'copy' | 'commit' | 'cancel';
  readonly key?: string;
  readonly to?: string;
}

/** Routes for the moves of apps between servers. */
export function moveHandlers({ parts, departures, arrivals }: Moves) {
  const { core } = parts;
  const named = ({ params }: Call) => core.apps.byName(params['name'] as string);

  const copy = async (app: HostedApp, { move, key, to }: ExportBody) => {
    if (key === undefined || to === undefined)
      throw failure.badRequest('key and to are required for the step copy');
    core.connection.engine();
    const stream = await departures.begin(app, { move, to, key: readKey(key) });
    return reply(200, stream, {
      'Content-Type': 'application/octet-stream',
      'Cache-Control': 'no-store',
    });
  };

  return {
    async exportApp(call: Call<ExportBody>) {
      const app = named(call);
      const { move, step } = call.body;
      if (step === 'check')
        return reply(200, { move, state: 'ready', ...(await plan(parts, app)) });
      if (step === 'copy') return copy(app, call.body);
      if (step === 'cancel') {
        await departures.cancel(app, move);
        return reply(200, { move, state: 'cancelled' });
      }
      const { spec } = await departures.commit(app, move);
      const until = new Date(spec.moved?.until ?? 0).toISOString();
      return reply(200, { move, state: 'moved', to: spec.moved?.to, until });
    },

    async exportState(call: Call) {
      const { move, state } = departures.state(named(call), call.query.move);
      return reply(200, { move, state });
    },

    async importApp({ query, koa }: Call) {
      const { move, step, part, backup_target } = query;
      if (move === undefined) throw failure.badRequest('move is required');
      if (step === 'check') {
        await assertTarget(parts.targets, backup_target);
        return reply(200, { move, state: 'ready' });
      }
      if (step === 'cancel') {
        await arrivals.cancel(move);
        return reply(200, { move, state: 'cancelled' });
      }
      const taken = await arrivals.take({
        ...{ move, key: readKey(koa.get('X-Move-Key')), number: part, last: step === 'last' },
        bytes: bytesOf(koa.req as Readable),
      });
      return reply(200, { move, ...taken });
    },

    async keepImport({ params, body }: Call<{ readonly proof: string }>) {
      const { answer } = await arrivals.keep(params['move'] as string, body.proof);
      const { http, https } = parts.ports();
      return reply(200, { proof: answer, ingress: { http, https } });
    },
  };
}

/** What a move of this app would take along. */
async function plan({ core }: Moves['parts'], app: HostedApp) {
  assertMovable(app);
  const running = core.operations.running(app.id);
  if (running !== undefined && running !== 'reconcile')
    throw failure.conflict(`Another operation is running on this app: ${running}`);
  const engine = core.connection.engine();
  const sizes = await engine.volumeSizes();
  const current =
    app.deployment === null ? null : await core.deployments.get(app.id, app.deployment);
  const image = current?.image_id ? await engine.images.find(current.image_id) : null;
  if (current && !image)
    throw failure.conflict('The image of this app is gone from the engine: deploy it, then move');
  const volumes = await volumesOf({ core }, app);
  return {
    version: VERSION,
    volumes: volumes.map((name) => ({
      name,
      bytes: sizes.get(volumeName(core.naming, app, name)) ?? null,
    })),
    domains: app.spec.worker ? [] : [app.spec.domain, ...app.spec.aliases],
    image: image?.size ?? null,
    backup_target: app.spec.backup?.target ?? null,
  };
}
