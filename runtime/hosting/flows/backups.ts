import { failure } from '@twofold/runtime/errors';
import { closed, dateTime, listed, object, orNull, text } from '@twofold/schema/shapes';
import { type Call, reply } from '@twofold/runtime/http';
import type { Leader } from '../leader.ts';
import { name as word } from '../records/app-shape.ts';
import { showBackup, type StoredBackup } from '../records/backup-repository.ts';
import { deleted, flow, ON_APP, ON_ENGINE, USUAL, wait } from './flow.ts';

const backup = object({
  id: text,
  app: orNull('string'),
  target: text,
  status: { enum: ['running', 'done', 'failed'] },
  bytes: { ...orNull('integer'), minimum: 0 },
  sha256: orNull('string'),
  started_at: dateTime,
  finished_at: orNull('string'),
  verified_at: orNull('string'),
  error: orNull('string'),
});

const begun = {
  200: ['The backup, which has ended', backup],
  202: ['The backup, which runs', backup],
} as const;

export const createBackup = flow('POST /api/apps/:name/backups', {
  needs: 'apps:write',
  summary: 'Starts a backup of the app: its dump, or an archive of its volumes',
  query: wait,
  answers: begun,
  refuses: ON_ENGINE,
  handle: async (call, leader) =>
    shownAfter(call, leader, await leader.backups.begin(leader.apps.byName(call.params.name))),
});

export const listBackups = flow('GET /api/apps/:name/backups', {
  needs: 'apps:read',
  summary: 'Lists the backups of the app, newest first',
  answers: { 200: ['The backups', listed('backups', backup)] },
  refuses: ON_APP,
  /** The backups of an app that was deleted can still be listed. */
  async handle({ params: { name } }, { apps, backups }) {
    const all = await backups.parts.repository.list(name);
    if (all.length === 0) apps.byName(name);
    return reply(200, { backups: all.map(showBackup), total: all.length });
  },
});

export const getBackup = flow('GET /api/apps/:name/backups/:id', {
  needs: 'apps:read',
  summary: 'Returns one backup',
  answers: { 200: ['The backup', backup] },
  refuses: ON_APP,
  handle: async ({ params }, { backups }) => reply(200, showBackup(await found(backups, params))),
});

export const deleteBackup = flow('DELETE /api/apps/:name/backups/:id', {
  needs: 'apps:write',
  summary: 'Deletes a backup and its bytes',
  answers: { 200: ['It was removed'] },
  refuses: [...ON_APP, 409, 422],
  async handle({ params }, { backups }) {
    await backups.remove(await found(backups, params));
    return deleted();
  },
});

const nameOfApp = { type: 'string', maxLength: 63 } as const;
const restored = object({ app: text, backup: text, status: { enum: ['running', 'done'] } });

export const restoreBackup = flow('POST /api/apps/:name/backups/:id/restore', {
  needs: 'apps:write',
  summary: 'Puts a backup in the place of the data of the app, or into a new app beside it',
  description:
    'With `confirm`, the name of the app: stops the app, backs up what is there, restores and starts. A backup that cannot be restored changes nothing; the reason is in `error` of the app. With `into`, the name of a new app: makes it from the backup, with its environment and secrets, and leaves the app as it is.',
  query: wait,
  body: closed({ confirm: nameOfApp, into: nameOfApp }),
  answers: {
    200: ['The restore, which has ended', restored],
    202: ['The restore, which runs', restored],
  },
  refuses: [...ON_ENGINE, 422],
  async handle({ params, query, body: { confirm, into } }, { apps, backups }) {
    const from = await found(backups, params);
    if ((confirm === undefined) === (into === undefined))
      throw failure.badRequest('confirm or into is required, and not both');
    const inPlace = () => {
      const app = apps.byName(params.name);
      if (confirm === app.name) return backups.restore(app, from);
      throw failure.badRequest(`confirm must be the name of the app, ${app.name}`);
    };
    const { done } = into === undefined ? await inPlace() : await backups.restoreBeside(into, from);
    const shown = { app: into ?? params.name, backup: from.id };
    if (!query.wait) return reply(202, { ...shown, status: 'running' });
    await done;
    return reply(200, { ...shown, status: 'done' });
  },
});

export const verifyBackup = flow('POST /api/apps/:name/backups/:id/verify', {
  needs: 'apps:write',
  summary: 'Restores a backup into a throwaway copy, starts it and compares its files',
  query: wait,
  answers: {
    200: ['The backup, which was tried', backup],
    202: ['The backup, which is tried', backup],
  },
  refuses: ON_ENGINE,
  async handle(call, leader) {
    const { apps, backups } = leader;
    const tried = await found(backups, call.params);
    const { done } = await backups.verify(apps.byName(call.params.name), tried);
    return shownAfter(call, leader, { backup: tried, done });
  },
});

export const createSystemBackup = flow('POST /api/system/backups', {
  needs: 'system:write',
  summary: 'Starts a backup of the server itself: database, sealing keys, descriptions of apps',
  description: 'It has all secrets of the server, so `BACKUP_KEY` must be set.',
  query: wait,
  audit: { values: ['target'] },
  body: closed({ target: { type: 'string', pattern: word.pattern } }, ['target']),
  answers: begun,
  refuses: [...ON_APP, 409, 503],
  handle: async (call, leader) =>
    shownAfter(call, leader, await leader.backups.beginSystem(call.body.target)),
});

export const listSystemBackups = flow('GET /api/system/backups', {
  needs: 'system:read',
  summary: 'Lists the backups of the server itself, newest first',
  answers: { 200: ['The backups', listed('backups', backup)] },
  refuses: USUAL,
  async handle(_call, { backups }) {
    const all = await backups.parts.repository.list(null);
    return reply(200, { backups: all.map(showBackup), total: all.length });
  },
});

export const getSystemBackup = flow('GET /api/system/backups/:id', {
  needs: 'system:read',
  summary: 'Returns one backup of the server itself',
  answers: { 200: ['The backup', backup] },
  refuses: ON_APP,
  handle: async ({ params }, { backups }) =>
    reply(200, showBackup(await backups.parts.repository.get(null, params.id))),
});

export const deleteSystemBackup = flow('DELETE /api/system/backups/:id', {
  needs: 'system:write',
  summary: 'Deletes a backup of the server itself and its bytes',
  answers: { 200: ['It was removed'] },
  refuses: [...ON_APP, 409, 422],
  async handle({ params }, { backups }) {
    await backups.remove(await backups.parts.repository.get(null, params.id));
    return deleted();
  },
});

const found = (
  { parts }: Leader['backups'],
  { name, id }: { readonly name: string; readonly id: string },
): Promise<StoredBackup> => parts.repository.get(name, id);

interface Begun {
  readonly backup: StoredBackup;
  readonly done: Promise<void>;
}

/**
 * Shows a backup, after its end if the caller waits for that. A backup that has failed is an answer
 * too: its record says why.
 */
async function shownAfter({ query }: Call, { backups }: Leader, { backup: started, done }: Begun) {
  if (!query.wait) return reply(202, showBackup(started));
  await done.catch(() => {});
  return reply(200, showBackup(await backups.parts.repository.get(started.app, started.id)));
}
