import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { confirm } from '../../parts/confirm.tsx';
import { attempt } from '../../parts/notices.tsx';

interface JobActionsProps {
  readonly job: Job;
  changed(): void;
}

/** Buttons for the actions that the job's state and the caller's permissions allow. */
export function JobActions({ job, changed }: JobActionsProps) {
  if (!can('jobs:write')) return null;
  const { id, name, state } = job;
  const path = `/api/system/jobs/${id}`;
  const retry = async () => {
    await attempt(() => call('POST', `${path}/retry`), t('Job {id} waits again', { id }));
    changed();
  };
  const cancel = async () => {
    const text =
      state === 'running'
        ? t('Job {id} ({name}) is running: its signal is aborted, and it is not tried again.', {
            id,
            name,
          })
        : t('Job {id} ({name}) will not run.', { id, name });
    if (!(await confirm({ text, action: t('Cancel job') }))) return;
    await attempt(() => call('POST', `${path}/cancel`), t('Job {id} is cancelled', { id }));
    changed();
  };
  if (state === 'failed') return <Button onClick={retry}>{t('Retry')}</Button>;
  if (state !== 'waiting' && state !== 'running') return null;
  return (
    <Button class="danger" onClick={cancel}>
      {t('Cancel job')}
    </Button>
  );
}

export type JobState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';

/** A job, as lists of the API name it. */
export interface Job {
  readonly id: number;
  readonly name: string;
  readonly state: JobState;
  readonly attempt: number;
  readonly attempts: number;
  readonly at: string;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly error: string | null;
}

/** A job by its id. */
export interface WholeJob extends Job {
  readonly data: unknown;
  readonly errors: readonly {
    readonly attempt: number;
    readonly at: string;
    readonly message: string;
  }[];
}

export interface JobCount {
  readonly name: string;
  readonly state: JobState;
  readonly count: number;
}

/** A job that is sent at set times. */
export interface JobSchedule {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly next_at: string | null;
}
