import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { Backups } from '../backups/backups.ts';
import type { TargetFields } from '../backups/targets/targets.ts';
import { showTarget } from '../backups/targets/targets.ts';
import type { Core } from '../core.ts';
import { showBackup, type StoredBackup } from '../records/backup.ts';

interface RestoreBody {
  /** The app's name, so that no app is overwritten by mistake. */
  readonly confirm?: string;
  /** The name of a new app. */
  readonly into?: string;
}

/** Routes for the backups of apps, and for the places where they are stored. */
export function backupHandlers(core: Core, backups: Backups) {
  const { repository } = backups.parts;
  const nameOf = ({ params }: Call) => params['name'] as string;
  const found = (call: Call): Promise<StoredBackup> =>
    repository.get(nameOf(call), call.params['id'] as string);
  const list = async (app: string) => {
    const all = await repository.list(app);
    return reply(200, { backups: all.map(showBackup), total: all.length });
  };
  /** A backup that has failed is an answer too: its record says why. */
  const shownAfter = async ({ query }: Call, backup: StoredBackup, done: Promise<void>) => {
    if (!query.wait) return reply(202, showBackup(backup));
    await done.catch(() => {});
    return reply(200, showBackup(await repository.get(backup.app, backup.id)));
  };
  const restoreInPlace = (name: string, backup: StoredBackup, confirm: string | undefined) => {
    const app = core.apps.byName(name);
    if (confirm === app.name) return backups.restore(app, backup);
    throw failure.badRequest(`confirm must be the name of the app, ${app.name}`);
  };
  return {
    ...systemBackupHandlers(backups, shownAfter),

    async createBackup(call: Call) {
      const { backup, done } = await backups.begin(core.apps.byName(nameOf(call)));
      return shownAfter(call, backup, done);
    },

    /** The backups of an app that was deleted can still be listed. */
    async listBackups(call: Call) {
      const name = nameOf(call);
      const answer = await list(name);
      if ((answer.body as { total: number }).total === 0) core.apps.byName(name);
      return answer;
    },

    getBackup: async (call: Call) => reply(200, showBackup(await found(call))),

    async deleteBackup(call: Call) {
      await backups.remove(await found(call));
      return reply(200, { status: 'deleted' });
    },

    async restoreBackup(call: Call<RestoreBody>) {
      const backup = await found(call);
      const { confirm, into } = call.body;
      if ((confirm === undefined) === (into === undefined))
        throw failure.badRequest('confirm or into is required, and not both');
      const { done } =
        into === undefined
          ? await restoreInPlace(nameOf(call), backup, confirm)
          : await backups.restoreBeside(into, backup);
      const shown = { app: into ?? nameOf(call), backup: backup.id };
      if (!call.query.wait) return reply(202, { ...shown, status: 'running' });
      await done;
      return reply(200, { ...shown, status: 'done' });
    },

    async verifyBackup(call: Call) {
      const backup = await found(call);
      const { done } = await backups.verify(core.apps.byName(nameOf(call)), backup);
      return shownAfter(call, backup, done);
    },

    ...targetHandlers(core, backups),
  };
}

/** Waits for the end of a backup if the caller wants that, and shows it. */
type ShowAfter = (call: Call, backup: StoredBackup, done: Promise<void>) => Promise<Reply>;

/** Backups of the server itself. */
function systemBackupHandlers(backups: Backups, shownAfter: ShowAfter) {
  const { repository } = backups.parts;
  const found = ({ params }: Call) => repository.get(null, params['id'] as string);
  return {
    async createSystemBackup(call: Call<{ readonly target: string }>) {
      const { backup, done } = await backups.beginSystem(call.body.target);
      return shownAfter(call as Call, backup, done);
    },

    async listSystemBackups() {
      const all = await repository.list(null);
      return reply(200, { backups: all.map(showBackup), total: all.length });
    },

    getSystemBackup: async (call: Call) => reply(200, showBackup(await found(call))),

    async deleteSystemBackup(call: Call) {
      await backups.remove(await found(call));
      return reply(200, { status: 'deleted' });
    },
  };
}

/** The places where backups are stored. */
function targetHandlers(core: Core, { parts: { repository, targets } }: Backups) {
  const nameOf = ({ params }: Call) => params['name'] as string;
  return {
    async listBackupTargets() {
      const all = await targets.list();
      return reply(200, { targets: all, total: all.length });
    },

    async putBackupTarget(call: Call<TargetFields>) {
      await targets.put(nameOf(call), call.body);
      return reply(200, showTarget(nameOf(call), call.body));
    },

    async deleteBackupTarget(call: Call) {
      const name = nameOf(call);
      const user = core.apps.all().find(({ spec }) => spec.backup?.target === name);
      if (user) throw failure.conflict(`The app ${user.name} uses this target`);
      if (await repository.usesTarget(name))
        throw failure.conflict('There are backups in this target: delete them first');
      await targets.remove(name);
      return reply(200, { status: 'deleted' });
    },
  };
}
