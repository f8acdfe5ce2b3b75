import type { Readable } from 'node:stream';
import { failure } from '@twofold/runtime/errors';
import { stream } from '@twofold/schema';
import { closed, count, dateTime, list, object, orNull, text } from '@twofold/schema/shapes';
import { bytesOf, reply } from '@twofold/runtime/http';
import { VERSION } from '@twofold/runtime/kernel';
import { volumeName } from '../host/containers.ts';
import type { Leader } from '../leader.ts';
import { assertTarget, readKey } from '../moves/arrival.ts';
import { volumesOf } from '../moves/departure.ts';
import { assertMovable } from '../moves/describe.ts';
import type { HostedApp } from '../records/app.ts';
import { flow, ON_APP, ON_ENGINE, USUAL } from './flow.ts';

/** The flows of `generator host move`, which brings an app to another server. */

const move = { type: 'string', pattern: '^[0-9a-f]{32}$' } as const;

const exported = object({
  move: text,
  state: { enum: ['ready', 'copying', 'stopped', 'moved', 'cancelled'] },
  version: text,
  volumes: list(object({ name: text, bytes: { ...orNull('integer'), minimum: 0 } })),
  domains: list(text),
  image: { ...orNull('integer'), minimum: 0 },
  backup_target: orNull('string'),
  to: text,
  until: dateTime,
});

export const exportApp = flow('POST /api/apps/:name/export', {
  needs: 'system:write',
  summary: 'A step of a move away from this server',
  description:
    '`copy` answers with the app as a stream that is encrypted with `key`. It stops the app before its end. `commit` passes requests on to `to` from then on. If nobody asks for its state for 30 seconds, the move ends, and the app serves here as before.',
  audit: { values: ['step', 'to'] },
  body: closed(
    {
      move,
      step: { enum: ['check', 'copy', 'commit', 'cancel'] },
      key: { type: 'string', pattern: '^[A-Za-z0-9+/]{43}=$' },
      to: { type: 'string', pattern: '^https?://[^\\s/?#@]+$', maxLength: 300 },
    },
    ['move', 'step'],
  ),
  answers: { 200: ['What the step did; for `copy` the stream', exported] },
  refuses: [...ON_ENGINE, 422],
  async handle({ params, body }, leader) {
    const { departures } = leader.moves;
    const app = leader.apps.byName(params.name);
    const { move: id, step, key, to } = body;
    if (step === 'check')
      return reply(200, { move: id, state: 'ready', ...(await plan(leader, app)) });
    if (step === 'copy') {
      if (key === undefined || to === undefined)
        throw failure.badRequest('key and to are required for the step copy');
      leader.connection.engine();
      const bytes = await departures.begin(app, { move: id, to, key: readKey(key) });
      return reply(200, bytes, {
        'Content-Type': 'application/octet-stream',
        'Cache-Control': 'no-store',
      });
    }
    if (step === 'cancel') {
      await departures.cancel(app, id);
      return reply(200, { move: id, state: 'cancelled' });
    }
    const { spec } = await departures.commit(app, id);
    const until = new Date(spec.moved?.until ?? 0).toISOString();
    return reply(200, { move: id, state: 'moved', to: spec.moved?.to, until });
  },
});

export const exportState = flow('GET /api/apps/:name/export', {
  needs: 'system:write',
  summary: 'Returns the state of a move, which goes on as long as somebody asks',
  query: { move },
  answers: { 200: ['The state', exported] },
  refuses: ON_APP,
  handle({ params, query }, { apps, moves }) {
    const { move: id, state } = moves.departures.state(apps.byName(params.name), query.move ?? '');
    return reply(200, { move: id, state });
  },
});

export const importApp = flow('POST /api/apps/import', {
  needs: 'system:write',
  summary: 'A part of a move to this server',
  description:
    'The parts of the stream follow each other as bodies, the last one with `step=last`. The header `X-Move-Key` has the key. If the stream is cut or wrong, nothing of the app stays.',
  headers: { 'X-Move-Key': { type: 'string' } },
  query: {
    move,
    step: { enum: ['check', 'copy', 'last', 'cancel'], default: 'copy' },
    backup_target: { type: 'string', maxLength: 100 },
    part: { type: 'integer', minimum: 1, default: 1 },
  },
  body: stream('application/octet-stream'),
  answers: {
    200: [
      'What the part did',
      object({
        move: text,
        state: { enum: ['ready', 'copying', 'started', 'cancelled'] },
        bytes: count,
      }),
    ],
  },
  refuses: [...ON_ENGINE, 422],
  async handle({ query, koa }, { backups, moves: { arrivals } }) {
    const { move: id, step, part, backup_target } = query;
    if (id === undefined) throw failure.badRequest('move is required');
    if (step === 'check') {
      await assertTarget(backups.parts.targets, backup_target);
      return reply(200, { move: id, state: 'ready' });
    }
    if (step === 'cancel') {
      await arrivals.cancel(id);
      return reply(200, { move: id, state: 'cancelled' });
    }
    const taken = await arrivals.take({
      move: id,
      key: readKey(koa.get('X-Move-Key')),
      number: part,
      last: step === 'last',
      bytes: bytesOf(koa.req as Readable),
    });
    return reply(200, { move: id, ...taken });
  },
});

export const keepImport = flow('POST /api/apps/import/:move/keep', {
  needs: 'public',
  summary: 'The source of a move says that the app belongs to this server now',
  description: 'Only the source can make the proof. Until this call the app can be taken back.',
  audit: false,
  body: closed({ proof: { type: 'string', maxLength: 100 } }, ['proof']),
  limit: 1024,
  answers: {
    200: [
      'The app stays here',
      object({ proof: text, ingress: object({ http: count, https: count }) }),
    ],
  },
  refuses: [...USUAL, 404, 409],
  async handle({ params, body }, { moves, ports }) {
    const { answer } = await moves.arrivals.keep(params.move, body.proof);
    const { http, https } = ports();
    return reply(200, { proof: answer, ingress: { http, https } });
  },
});

/** What a move of this app would take along. */
async function plan(leader: Leader, app: HostedApp) {
  const { operations, connection, deployments, naming } = leader;
  assertMovable(app);
  const running = operations.running(app.id);
  if (running !== undefined && running !== 'reconcile')
    throw failure.conflict(`Another operation is running on this app: ${running}`);
  const engine = connection.engine();
  const sizes = await engine.volumeSizes();
  const current = app.deployment === null ? null : await deployments.get(app.id, app.deployment);
  const image = current?.image_id ? await engine.images.find(current.image_id) : null;
  if (current && !image)
    throw failure.conflict('The image of this app is gone from the engine: deploy it, then move');
  const volumes = await volumesOf(leader, app);
  return {
    version: VERSION,
    volumes: volumes.map((name) => ({
      name,
      bytes: sizes.get(volumeName({ naming }, app, name)) ?? null,
    })),
    domains: app.spec.worker ? [] : [app.spec.domain, ...app.spec.aliases],
    image: image?.size ?? null,
    backup_target: app.spec.backup?.target ?? null,
  };
}
