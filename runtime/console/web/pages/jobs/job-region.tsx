import { setQuery } from '../../address.ts';
import { t } from '../../messages.ts';
import { Answer, Badge, Facts, Panel } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { useCall } from '../../parts/use-call.ts';
import { JobActions, type JobState, type WholeJob } from './actions.tsx';
import { CloseButton } from '../../parts/button.tsx';

const JOB_EVERY = 3000;

const TONES: Readonly<Record<JobState, 'plain' | 'good' | 'bad' | 'busy'>> = {
  waiting: 'plain',
  running: 'busy',
  done: 'good',
  failed: 'bad',
  cancelled: 'plain',
};

/** One job with its data and the error of each attempt. */
export function JobRegion({ id, changed }: { id: string; changed(): void }) {
  const job = useCall<WholeJob>(`/api/system/jobs/${encodeURIComponent(id)}`, { every: JOB_EVERY });
  const act = () => {
    job.reload();
    changed();
  };
  return (
    <div class="job-region">
      <Panel name={t('Job {id}', { id })} tools={<CloseJob />}>
        <Answer of={job}>{(whole) => <Shown job={whole} changed={act} />}</Answer>
      </Panel>
    </div>
  );
}

const CloseJob = () => (
  <CloseButton label={t('Close job')} onClick={() => setQuery({ job: null })} />
);

function Shown({ job, changed }: { job: WholeJob; changed(): void }) {
  const { attempt, attempts } = job;
  return (
    <>
      <Facts
        rows={[
          [t('Name'), job.name],
          [t('State'), <Badge tone={TONES[job.state]}>{job.state}</Badge>],
          [t('Attempts'), t('{attempt} of {attempts}', { attempt, attempts })],
          [t('Sent'), <Time at={job.created_at} absolute />],
          [t('Due'), <Time at={job.at} absolute />],
          [t('Started'), <Time at={job.started_at} absolute />],
          [t('Ended'), <Time at={job.finished_at} absolute />],
        ]}
      />
      <h3>{t('Data')}</h3>
      <pre tabIndex={0}>{JSON.stringify(job.data, null, 2) ?? ''}</pre>
      {job.errors.length > 0 && <Errors of={job} />}
      <div class="buttons">
        <JobActions job={job} changed={changed} />
      </div>
    </>
  );
}

function Errors({ of: { errors } }: { of: WholeJob }) {
  return (
    <>
      <h3>{t('Errors')}</h3>
      <ol class="job-errors">
        {errors.map(({ attempt, at, message }) => (
          <li key={attempt}>
            <p class="quiet">
              {t('Attempt {attempt}', { attempt })} · <Time at={at} />
            </p>
            <pre tabIndex={0}>{message}</pre>
          </li>
        ))}
      </ol>
    </>
  );
}
