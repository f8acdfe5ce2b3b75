import { useState } from 'preact/hooks';
import { ApiError, call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { confirm } from '../../parts/confirm.tsx';
import { attempt } from '../../parts/notices.tsx';
import { Badge, Panel } from '../../parts/page.tsx';
import { actionsColumn, type Columns, Table, timeColumn } from '../../parts/table.tsx';
import { formatBytes } from '../../parts/time.tsx';
import { useCall } from '../../parts/use-call.ts';
import { type AgainProps, type App, type AppProps, routeOf } from './types.ts';

/** A backup, as `GET /api/apps/:name/backups` has it. */
export interface Backup {
  readonly id: string;
  readonly target: string;
  readonly status: 'running' | 'done' | 'failed';
  readonly bytes: number;
  readonly started_at: string;
  readonly verified_at: string | null;
  readonly error: string | null;
}

interface Backups {
  readonly backups: readonly Backup[];
}

const isMade = (list: Backups | undefined) =>
  list?.backups.some(({ status }) => status === 'running') === true;

/** A backup that is being made is looked at more often. */
const every = (list: Backups | undefined) => (isMade(list) ? 1000 : 10_000);

/** The backups of an app: what its volumes held, or what its dump command printed. */
export function BackupsTab({ app, reload }: AppProps) {
  const path = `${routeOf(app.name)}/backups`;
  const list = useCall<Backups>(path, { every });
  const again = () => {
    list.reload();
    reload();
  };
  const make = async () => {
    if (await attempt(() => call('POST', path), t('A backup is being made'))) again();
  };
  return (
    <Panel
      name={t('Backups of {name}', { name: app.name })}
      tools={
        can('apps:write') && (
          <Button disabled={isMade(list.data)} onClick={make}>
            {t('Back up now')}
          </Button>
        )
      }
    >
      <p class="quiet">{scheduleText(app)}</p>
      <Table
        name={t('Backups')}
        rows={list.data?.backups}
        columns={columnsOf(app, again)}
        of={list}
        empty={[
          t('No backups yet'),
          t('A backup has the files of the volumes, or what the dump command prints.'),
        ]}
      />
    </Panel>
  );
}

function scheduleText({ backup }: App): string {
  return backup?.schedule == null
    ? t('There is no schedule: backups are made by hand.')
    : t('A backup is made at {schedule} (UTC).', { schedule: backup.schedule });
}

function columnsOf(app: App, again: () => void): Columns<Backup> {
  return [
    timeColumn('started_at', t('Begun')),
    { id: 'status', title: t('Status'), width: 'wrap', render: (row) => <State {...row} /> },
    { id: 'target', title: t('Target'), render: ({ target }) => target },
    {
      id: 'bytes',
      title: t('Size'),
      align: 'end',
      render: ({ bytes, status }) => (status === 'done' ? formatBytes(bytes) : '–'),
    },
    timeColumn('verified_at', t('Verified')),
    can('apps:write') &&
      actionsColumn((backup: Backup) => <BackupActions {...{ app, backup, again }} />),
  ];
}

const TONES = { running: 'busy', done: 'good', failed: 'bad' } as const;

const State = ({ status, error }: Backup) => (
  <>
    <Badge tone={TONES[status]}>{t(status)}</Badge> {error}
  </>
);

function BackupActions({ app, backup, again }: AgainProps & { backup: Backup }) {
  const path = `${routeOf(app.name)}/backups/${backup.id}`;
  const [tried, setTried] = useState(false);
  const verify = async () => {
    setTried(true);
    await attempt(() => assertGood(`${path}/verify?wait=true`), t('The backup is good'));
    setTried(false);
    again();
  };
  const restore = async () => {
    const given = { name: app.name };
    const text = t('{name} is stopped. What it has now is backed up, then replaced.', given);
    if (!(await confirm({ text, action: t('Restore'), typed: app.name }))) return;
    const asked = () => call('POST', `${path}/restore`, { confirm: app.name });
    if (await attempt(asked, t('The backup is being restored'))) again();
  };
  const remove = async () => {
    const text = t('The backup and its bytes are deleted. This cannot be undone.');
    if (!(await confirm({ text, action: t('Delete backup') }))) return;
    if (await attempt(() => call('DELETE', path), t('The backup is deleted'))) again();
  };
  return (
    <div class="buttons">
      {backup.status === 'done' && (
        <>
          <Button disabled={tried} onClick={verify}>
            {tried ? t('Verifying') : t('Verify')}
          </Button>
          <Button disabled={tried} onClick={restore}>
            {t('Restore')}
          </Button>
        </>
      )}
      {backup.status !== 'running' && (
        <Button disabled={tried} onClick={remove}>
          {t('Delete backup')}
        </Button>
      )}
    </div>
  );
}

/** Tries a backup. A drill that fails is an answer, and no refusal of the call. */
async function assertGood(path: string): Promise<void> {
  const { error } = await call<Backup>('POST', path);
  if (error !== null) throw new ApiError(422, error, null);
}
