import { base } from '../../address.ts';
import { t } from '../../messages.ts';
import { useCall } from '../../parts/use-call.ts';
import type { ServerDescription } from '../../../flows/server.ts';
import { can } from '../../parts/can.ts';
import { AlertIcon } from '../../parts/icons.tsx';
import { formatBytes } from '../../parts/time.tsx';
import { description } from '../../description.ts';

/** A problem, and the page where it can be looked at. */
interface Attention {
  readonly text: string;
  readonly action: string;
  readonly path: string;
}

interface Apps {
  readonly apps: readonly { readonly name: string; readonly status: string }[];
}

interface JobCounts {
  readonly stats: readonly { readonly state: string; readonly count: number }[];
}

const EVERY = { every: 30_000 };

/** The share of the disk below which it is short. */
const SHORT = 0.05;

/**
 * Reads what may need attention, as far as the caller may: apps that crashed, jobs that failed, a
 * full disk.
 */
export function useAttention(server: ServerDescription | undefined): Attention[] {
  const has = (id: string) => description.value?.pages.some((page) => page.id === id) === true;
  const apps = useCall<Apps>(has('apps') && can('apps:read') ? '/api/apps' : null, EVERY);
  const jobs = useCall<JobCounts>(has('jobs') ? '/api/system/jobs/stats' : null, EVERY);
  return [...appsInTrouble(apps.data), ...failedJobs(jobs.data), ...shortDisk(server)];
}

const TROUBLE: ReadonlySet<string> = new Set(['crashed', 'failed']);

const appsInTrouble = (known: Apps | undefined): Attention[] =>
  (known?.apps ?? [])
    .filter(({ status }) => TROUBLE.has(status))
    .map(({ name, status }) => ({
      text: t('The app {name} is {status}', { name, status }),
      action: t('Open {name}', { name }),
      path: `${base}/apps/${encodeURIComponent(name)}`,
    }));

function failedJobs(known: JobCounts | undefined): Attention[] {
  const failed = (known?.stats ?? []).filter(({ state }) => state === 'failed');
  const count = failed.reduce((sum, each) => sum + each.count, 0);
  if (count === 0) return [];
  return [
    {
      text: count === 1 ? t('1 job has failed') : t('{n} jobs have failed', { n: count }),
      action: t('See failed jobs'),
      path: `${base}/jobs?tab=failed`,
    },
  ];
}

function shortDisk(server: ServerDescription | undefined): Attention[] {
  const disk = server?.disk;
  if (!disk || disk.free >= disk.total * SHORT) return [];
  return [
    {
      text: t('The disk is almost full: {free} of {total} are free', {
        free: formatBytes(disk.free),
        total: formatBytes(disk.total),
      }),
      action: t('See the log'),
      path: `${base}/logs`,
    },
  ];
}

/** The problems; nothing when there is none. */
export function AttentionList({ items }: { items: readonly Attention[] }) {
  if (items.length === 0) return null;
  return (
    <ul class="attention" aria-label={t('Needs attention')}>
      {items.map(({ text, action, path }) => (
        <li key={text}>
          <AlertIcon />
          <span>{text}</span>
          <a href={path}>{action}</a>
        </li>
      ))}
    </ul>
  );
}
