import { diskOf } from '@twofold/runtime/kernel';
import type { Core } from '../host/core.ts';
import { createLoop, type Loop } from '../host/loop.ts';
import type { HostedApp } from '../records/app.ts';
import { hideValues } from '../records/view.ts';
import type { Notifications } from './notifications.ts';

/** Milliseconds between two looks at the engine and the disk. */
const LOOK_INTERVAL = 5000;
/** Looks at the engine that have to fail before it counts as away: a restart of it is no news. */
const AWAY_LOOKS = 2;
/** The disk is low below this share of it, or below twice the free space that builds need. */
const LOW_SHARE = 0.05;

type Observe = Notifications['observe'];

/** Observes apps, deployments, runs, backups and certificates by their events, and the host. */
export function watchCore(core: Core, notifications: Notifications): Loop {
  const { observe } = notifications;
  const statuses = new Map<string, HostedApp['status']>();
  core.apps.onChange((app) => {
    if (statuses.get(app.id) === app.status) return;
    statuses.set(app.id, app.status);
    observeApp(observe, app);
  });
  core.events.listen(({ type, data }) => {
    if (type === 'removed') notifications.forget(String(data['app']));
    else if (type in OUTCOMES) observeOutcome(core, observe, type as keyof typeof OUTCOMES, data);
  });
  return watchHost(core, observe);
}

function observeApp(observe: Observe, app: HostedApp): void {
  if (app.status !== 'crashed' && app.status !== 'running') return;
  const failing = app.status === 'crashed';
  observe({
    topic: 'app',
    subject: app.name,
    app: app.name,
    failing,
    title: failing ? `${app.name} crashed` : `${app.name} runs again`,
    text: failing ? reasonOf(app, app.error) : `The app ${app.name} answers again.`,
  });
}

/** How the events of the hub say that something failed or succeeded. Others mean neither. */
const OUTCOMES = {
  deployment: { topic: 'deploy', failed: ['failed'], good: ['healthy'] },
  run: { topic: 'run', failed: ['failed', 'timeout', 'lost'], good: ['done'] },
  backup: { topic: 'backup', failed: ['failed'], good: ['done'] },
  certificate: { topic: 'certificate', failed: ['failed'], good: ['issued'] },
} as const;

const WORDS = {
  deploy: ['A deployment of', 'failed', 'succeeded'],
  run: ['A run of', 'failed', 'succeeded'],
  backup: ['A backup of', 'failed', 'succeeded'],
  certificate: ['The certificate of', 'could not be issued', 'was issued'],
} as const;

/**
 * The subject is the app, or more exactly the cron of a run or the host of a certificate. A run of
 * a command by hand has no subject: its caller sees the result.
 */
function observeOutcome(
  core: Core,
  observe: Observe,
  type: keyof typeof OUTCOMES,
  data: Readonly<Record<string, unknown>>,
): void {
  const { topic, failed, good } = OUTCOMES[type];
  const status = String(data['status']);
  const failing = (failed as readonly string[]).includes(status);
  if (!failing && !(good as readonly string[]).includes(status)) return;
  if (type === 'run' && !data['cron']) return;
  const name = (data['app'] ?? null) as string | null;
  const host = (data['host'] ?? name ?? 'the server') as string;
  const subject = data['cron'] ? `${name} ${String(data['cron'])}` : host;
  const app = core.apps.all().find((each) => each.name === name);
  const [what, bad, well] = WORDS[topic];
  const title = `${what} ${subject} ${failing ? bad : well}`;
  const reason = (data['reason'] ?? data['error'] ?? null) as string | null;
  const text = failing ? reasonOf(app, reason) : `${title}.`;
  observe({ topic, subject, app: name, failing, title, text });
}

/** Without output of the app, and without values of its environment. */
function reasonOf(app: HostedApp | undefined, reason: string | null): string {
  const own = (reason ?? '').split(/[.(]? ?\(?last line:/i)[0]?.trim() ?? '';
  return (app ? hideValues(app, own) : own) || 'No reason is known.';
}

/** Looks at the engine and at its disk. */
function watchHost(core: Core, observe: Observe): Loop {
  const host = { subject: 'host', app: null };
  let missed = 0;
  return createLoop({
    pause: () => LOOK_INTERVAL,
    onError: (error) => core.log.warn(`notifications: ${error.message}`),
    async work() {
      const info = core.connection.info();
      missed = info ? 0 : missed + 1;
      if (info || missed === AWAY_LOOKS)
        observe({
          ...host,
          topic: 'engine',
          failing: info === null,
          title: info ? 'The container engine is back' : 'The container engine is away',
          text: info
            ? `${info.kind} ${info.version} answers again.`
            : 'Apps go on, but nothing can be deployed, started or repaired until it answers.',
        });
      const disk = info?.root ? await diskOf(info.root) : null;
      if (!disk) return;
      const failing = disk.free < Math.max(2 * core.model.diskFloor, LOW_SHARE * disk.total);
      observe({
        ...host,
        topic: 'disk',
        failing,
        title: failing ? 'The disk of the engine is nearly full' : 'The disk has room again',
        text: `${GIB(disk.free)} of ${GIB(disk.total)} GiB are free. POST /api/system/prune frees unused images.`,
      });
    },
  });
}

const GIB = (bytes: number) => (bytes / 1024 ** 3).toFixed(1);
