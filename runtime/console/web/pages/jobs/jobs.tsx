import { askedPath, query, setQuery } from '../../address.ts';
import { t } from '../../messages.ts';
import { CursorPager } from '../../parts/cursor-pager.tsx';
import { Choice } from '../../parts/field.tsx';
import { Empty, Page, RESERVED } from '../../parts/page.tsx';
import { actionsColumn, type Column, Table, timeColumn } from '../../parts/table.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { formatDuration, formatNumber } from '../../parts/time.tsx';
import { type Called, useCall } from '../../parts/use-call.ts';
import {
  JobActions,
  type Job,
  type JobCount,
  type JobSchedule,
  type JobState,
} from './actions.tsx';
import { JobRegion } from './job-region.tsx';

const EVERY = 3000;

interface Listed {
  readonly jobs: readonly Job[];
  readonly total: number;
  readonly next_cursor: string | null;
}

interface Stats {
  readonly stats: readonly JobCount[];
  readonly schedules: readonly JobSchedule[];
}

const TABS = (): readonly (readonly [JobState, string])[] => [
  ['waiting', t('Waiting')],
  ['running', t('Running')],
  ['done', t('Done')],
  ['failed', t('Failed')],
  ['cancelled', t('Cancelled')],
];

/** The queue of jobs, by state, and the schedules that send some. */
export function JobsPage() {
  const stats = useCall<Stats>('/api/system/jobs/stats', { every: EVERY });
  const counts = stats.data?.stats ?? [];
  const shown = query.value.get('job');
  return (
    <Page
      title={t('Jobs')}
      about={stats.data ? <Counts counts={counts} /> : RESERVED}
      tools={<NameChoice counts={counts} />}
    >
      <div class={shown === null ? undefined : 'jobs-with-one'}>
        <div class="jobs-list">
          <Tabs
            label={t('Jobs')}
            keep={['name']}
            tabs={[
              ...TABS().map(([id, title]) => ({
                id,
                title,
                render: () => <JobList state={id} changed={stats.reload} />,
              })),
              {
                id: 'schedules',
                title: t('Schedules'),
                render: () => <Schedules of={stats} />,
              },
            ]}
          />
        </div>
        {shown !== null && <JobRegion key={shown} id={shown} changed={stats.reload} />}
      </div>
    </Page>
  );
}

/** How many jobs there are in each state. */
function Counts({ counts }: { counts: readonly JobCount[] }) {
  const all = (state: JobState) =>
    counts.filter((each) => each.state === state).reduce((sum, { count }) => sum + count, 0);
  return (
    <span class="job-counts">
      {TABS().map(([state, title]) => (
        <span key={state} class={all(state) > 0 ? state : undefined}>
          {title} {formatNumber(all(state))}
        </span>
      ))}
    </span>
  );
}

function NameChoice({ counts }: { counts: readonly JobCount[] }) {
  const chosen = query.value.get('name') ?? '';
  const names = [...new Set([...counts.map(({ name }) => name), ...(chosen ? [chosen] : [])])];
  return (
    <Choice
      label={t('Name')}
      value={chosen}
      options={[['', t('All jobs')], ...names.toSorted().map((name) => [name, name] as const)]}
      choose={(name) => setQuery({ name: name === '' ? null : name, cursor: null })}
    />
  );
}

function JobList({ state, changed }: { state: JobState; changed(): void }) {
  const path = askedPath('/api/system/jobs', ['name', 'cursor'], { state });
  const list = useCall<Listed>(path, { every: EVERY });
  const { data, loading, error, reload } = list;
  const act = () => {
    reload();
    changed();
  };
  return (
    <>
      <Table
        name={t('Jobs')}
        columns={columnsOf(state, act)}
        rows={data?.jobs}
        of={{ loading, error, reload }}
        empty={<Empty text={emptyText(state)} {...(state === 'waiting' && { hint: HINT() })} />}
      />
      <CursorPager next={data?.next_cursor} />
    </>
  );
}

const Schedules = ({ of }: { of: Called<Stats> }) => (
  <Table
    name={t('Schedules')}
    columns={[
      { id: 'name', title: t('Name'), render: ({ name }) => name },
      { id: 'schedule', title: t('Schedule'), render: ({ cron }) => <code>{cron}</code> },
      { id: 'timezone', title: t('Time zone'), render: ({ timezone }) => timezone },
      timeColumn('next_at', t('Next')),
    ]}
    rows={of.data?.schedules}
    keyOf={({ name }) => name}
    of={of}
    empty={[t('No schedules'), t('A file of src/jobs/ has one by its schedule.')]}
  />
);

const HINT = () => t('Your code sends jobs with ctx.jobs.send(name, data).');

const emptyText = (state: JobState): string =>
  ({
    waiting: t('No waiting jobs'),
    running: t('No running jobs'),
    done: t('No finished jobs'),
    failed: t('No failed jobs'),
    cancelled: t('No cancelled jobs'),
  })[state];

function columnsOf(state: JobState, act: () => void): readonly Column<Job>[] {
  return [
    { id: 'id', title: t('Job'), width: 'fit', render: ({ id }) => <Open id={id} /> },
    { id: 'name', title: t('Name'), render: ({ name }) => name },
    ...timesOf(state),
    {
      id: 'attempt',
      title: t('Attempts'),
      align: 'end',
      width: 'fit',
      render: ({ attempt, attempts }) => t('{attempt} of {attempts}', { attempt, attempts }),
    },
    {
      id: 'error',
      title: t('Error'),
      width: 'wrap',
      render: ({ error }) => <span class="job-error">{error ?? ''}</span>,
    },
    actionsColumn((job) => <JobActions job={job} changed={act} />),
  ];
}

/** The most useful times of a job in this state, as columns. */
function timesOf(state: JobState): readonly Column<Job>[] {
  const time = <Name extends keyof Job & `${string}at`>(name: Name, title: string) =>
    timeColumn(name, title, { width: 'fit' });
  if (state === 'waiting') return [time('at', t('Due')), time('created_at', t('Sent'))];
  if (state === 'running') return [time('started_at', t('Started')), time('created_at', t('Sent'))];
  return [
    time('finished_at', t('Ended')),
    { id: 'duration', title: t('Duration'), align: 'end', width: 'fit', render: durationOf },
  ];
}

function durationOf({ started_at: from, finished_at: to }: Job): string {
  if (from === null || to === null) return '–';
  return formatDuration(Math.max(0, Date.parse(to) - Date.parse(from)) / 1000);
}

/** The link to one job keeps the list as it is. */
function Open({ id }: { id: number }) {
  const url = new URL(location.href);
  url.searchParams.set('job', String(id));
  return (
    <a href={url.href} aria-current={query.value.get('job') === String(id) ? 'true' : undefined}>
      {id}
    </a>
  );
}
