import { useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { confirm } from '../../parts/confirm.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { Field, textIn } from '../../parts/field.tsx';
import { attempt } from '../../parts/notices.tsx';
import { Badge, Panel } from '../../parts/page.tsx';
import { actionsColumn, type Column, Table, timeColumn } from '../../parts/table.tsx';
import { useCall } from '../../parts/use-call.ts';
import { wordsOf } from './terminal.tsx';
import { type AgainProps, type AppProps, type Cron, type Run, routeOf } from './types.ts';
import { Command, RunOutput } from './run-output.tsx';

interface Runs {
  readonly runs: readonly Run[];
}

/** A run that goes on is looked at more often. */
const every = (list: Runs | undefined) =>
  list?.runs.some(({ status }) => status === 'running') ? 1000 : 10_000;

/** Commands in containers of their own: the app's schedules, and what was run by hand. */
export function RunsTab({ app }: AppProps) {
  const [open, setOpen] = useState<'command' | Run['id'] | null>(null);
  const path = `${routeOf(app.name)}/runs`;
  const list = useCall<Runs>(path, { every });
  const rows = list.data?.runs;
  const close = () => setOpen(null);
  const shown = rows?.find(({ id }) => id === open);
  return (
    <>
      <Schedules app={app} again={list.reload} />
      <Panel
        name={t('Runs')}
        tools={
          can('apps:exec') && (
            <Button disabled={app.deployment === null} onClick={() => setOpen('command')}>
              {t('Run a command')}
            </Button>
          )
        }
      >
        <Table
          name={t('Runs')}
          rows={rows}
          columns={columnsOf({ path, again: list.reload, show: setOpen })}
          of={list}
          empty={[
            t('No runs yet'),
            t('A run is a command in a new container, with the env and volumes of the app.'),
          ]}
        />
      </Panel>
      {open === 'command' && <RunDialog {...{ path, close }} again={list.reload} />}
      {shown && <RunOutput key={shown.id} {...{ path, close }} run={shown} />}
    </>
  );
}

/** Nothing where the app has no schedule. */
function Schedules({ app, again }: AgainProps) {
  const crons = app.cron ?? [];
  if (crons.length === 0) return null;
  const begin = async ({ name }: Cron) => {
    const asked = () => call('POST', `${routeOf(app.name)}/cron/${name}/run`);
    if (await attempt(asked, t('{name} has begun', { name }))) again();
  };
  return (
    <Panel name={t('Schedules')}>
      <Table
        name={t('Schedules')}
        rows={crons}
        keyOf={({ name }) => name}
        columns={[
          { id: 'name', title: t('Name'), render: ({ name }) => name },
          {
            id: 'schedule',
            title: t('Schedule'),
            render: ({ schedule, timezone }) => (
              <code>
                {schedule} {timezone ?? 'UTC'}
              </code>
            ),
          },
          { id: 'command', title: t('Command'), render: ({ command }) => <Command of={command} /> },
          can('apps:exec') &&
            actionsColumn((cron: Cron) => (
              <Button
                aria-label={t('Run now: {name}', { name: cron.name })}
                disabled={app.deployment === null}
                onClick={() => begin(cron)}
              >
                {t('Run now')}
              </Button>
            )),
        ]}
      />
    </Panel>
  );
}

const TONES = {
  running: 'busy',
  done: 'good',
  failed: 'bad',
  timeout: 'bad',
  stopped: 'plain',
  lost: 'bad',
} as const;

interface Columns {
  readonly path: string;
  again(): void;
  show(id: Run['id']): void;
}

function columnsOf({ path, again, show }: Columns): readonly Column<Run>[] {
  const stop = async ({ id, command }: Run) => {
    const text = t('The run of {command} ends before it is done.', { command: command.join(' ') });
    if (!(await confirm({ text, action: t('Stop run') }))) return;
    if (await attempt(() => call('DELETE', `${path}/${id}`), t('The run is stopped'))) again();
  };
  return [
    timeColumn('started_at', t('Begun')),
    { id: 'command', title: t('Command'), render: ({ command }) => <Command of={command} /> },
    { id: 'cron', title: t('Schedule'), render: ({ cron }) => cron ?? '–' },
    {
      id: 'status',
      title: t('Status'),
      render: ({ status, exit_code: code }) => (
        <>
          <Badge tone={TONES[status]}>{t(status)}</Badge>
          {status === 'failed' && code !== null && ` ${t('exit code {code}', { code })}`}
        </>
      ),
    },
    actionsColumn((run) => (
      <div class="buttons">
        <Button onClick={() => show(run.id)}>{t('Output')}</Button>
        {run.status === 'running' && can('apps:exec') && (
          <Button onClick={() => stop(run)}>{t('Stop run')}</Button>
        )}
      </div>
    )),
  ];
}

interface RunDialogProps {
  readonly path: string;
  again(): void;
  close(): void;
}

function RunDialog({ path, again, close }: RunDialogProps) {
  const submit = async (form: FormData) => {
    await call('POST', path, { command: wordsOf(textIn(form, 'command')) });
    return t('The run has begun');
  };
  return (
    <FormDialog title={t('Run a command')} action={t('Run')} {...{ close, submit, saved: again }}>
      <Field
        label={t('Command')}
        name="command"
        required
        autofocus
        spellcheck={false}
        placeholder="npm run report"
        hint={t('It runs in a new container of the current deployment, without a terminal.')}
      />
    </FormDialog>
  );
}
