import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { confirm } from '../../parts/confirm.tsx';
import { attempt } from '../../parts/notices.tsx';
import { Badge } from '../../parts/page.tsx';
import { actionsColumn, type Columns, Table, timeColumn } from '../../parts/table.tsx';
import { useCall } from '../../parts/use-call.ts';
import { ADMIN, mayChange, type Session, type User } from './shapes.ts';
import { UserLink } from './user-link.tsx';

/** The live sessions of a user. */
export function SessionList({ user, changed }: { user: User; changed(): void }) {
  const path = `${ADMIN}/users/${encodeURIComponent(user.id)}/sessions`;
  // The sessions are read again when their number changes, as after `End all sessions`.
  const sessions = useCall<{ sessions: Session[] }>(`${path}?${user.sessions}`);
  const end = async ({ id, user_agent, ip }: Session) => {
    const text = t('The session from {ip} ({agent}) ends.', { ip, agent: user_agent || '–' });
    if (!(await confirm({ text, action: t('End session') }))) return;
    if (await attempt(() => call('DELETE', `${path}/${id}`), t('Session ended'))) changed();
    sessions.reload();
  };
  return (
    <Table
      name={t('Sessions')}
      columns={columnsOf(mayChange(user) ? (session) => void end(session) : null)}
      rows={sessions.data?.sessions}
      of={sessions}
      empty={[t('No sessions'), t('The user is not signed in anywhere.')]}
    />
  );
}

function columnsOf(end: ((session: Session) => void) | null): Columns<Session> {
  return [
    {
      id: 'device',
      title: t('Device'),
      width: 'wrap',
      render: ({ name, user_agent, current }) => (
        <span class="badges">
          {name ?? (user_agent || t('unknown'))}
          {current && <Badge tone="good">{t('this one')}</Badge>}
        </span>
      ),
    },
    { id: 'client', title: t('Application'), render: ({ client }) => client ?? '–' },
    { id: 'ip', title: t('IP address'), render: ({ ip }) => ip },
    {
      id: 'method',
      title: t('Signed in by'),
      render: ({ auth_method, amr, impersonated_by }) => (
        <>
          {auth_method} {amr.length > 0 && <span class="quiet">({amr.join(', ')})</span>}
          {impersonated_by !== null && <UserLink id={impersonated_by} />}
        </>
      ),
    },
    timeColumn('created_at', t('Since')),
    timeColumn('last_seen_at', t('Last seen')),
    end &&
      actionsColumn((session: Session) => (
        <Button
          aria-label={t('End session from {ip}', { ip: session.ip })}
          onClick={() => end(session)}
        >
          {t('End')}
        </Button>
      )),
  ];
}
