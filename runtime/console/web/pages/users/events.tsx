import { query, setQuery } from '../../address.ts';
import { t } from '../../messages.ts';
import { CursorPager } from '../../parts/cursor-pager.tsx';
import { Choice } from '../../parts/field.tsx';
import { Badge } from '../../parts/page.tsx';
import { type Column, Table, timeColumn } from '../../parts/table.tsx';
import { useCall } from '../../parts/use-call.ts';
import { ADMIN, type SecurityEvent } from './shapes.ts';
import { UserLink } from './user-link.tsx';

/** The types that are most often needed. The list shows every type. */
const TYPES = [
  'auth.login.failed',
  'auth.login.succeeded',
  'auth.locked',
  'auth.unlocked',
  'auth.logout',
  'auth.logout_all',
  'auth.session_ended',
  'api_key.created',
  'api_key.rotated',
  'api_key.revoked',
  'api_key.failed',
  'email.changed',
  'email.verified',
  'password.changed',
  'password.reset',
  'password.reset_requested',
  'passkey.added',
  'passkey.removed',
  'permission.changed',
  'rate_limit.exceeded',
  'token.refresh_reuse',
  'token.revoked',
  'totp.disabled',
  'totp.enabled',
  'user.deleted',
  'user.disabled',
  'user.enabled',
  'user.impersonated',
  'user.registered',
] as const;

const TONES: Readonly<Record<string, 'plain' | 'bad' | 'busy'>> = {
  warning: 'busy',
  critical: 'bad',
};

/** The tab `Security events`, or those of one user: the newest first, of one type when asked. */
export function EventList({ of }: { of?: string }) {
  const asked = new URLSearchParams({ limit: of === undefined ? '50' : '20' });
  const given = { type: 'event', cursor: 'events' } as const;
  for (const [name, parameter] of Object.entries(given)) {
    const value = query.value.get(parameter);
    if (value) asked.set(name, value);
  }
  if (of !== undefined) asked.set('user_id', of);
  const events = useCall<{ events: SecurityEvent[]; next_cursor: string | null }>(
    `${ADMIN}/security-events?${asked}`,
  );
  return (
    <div class="answer">
      {of === undefined && (
        <div class="bar">
          <Choice
            label={t('Event')}
            value={query.value.get('event') ?? ''}
            options={[['', t('All')], ...TYPES.map((type) => [type, type] as const)]}
            choose={(type) => setQuery({ event: type || null, events: null })}
          />
        </div>
      )}
      <Table
        name={t('Security events')}
        columns={
          of === undefined ? [...COLUMNS.slice(0, 2), OF_USER, ...COLUMNS.slice(2)] : COLUMNS
        }
        rows={events.data?.events}
        of={events}
        empty={[
          t('No security events'),
          t('Sign-ins, refusals and changes of accounts are kept for 90 days.'),
        ]}
      />
      <CursorPager next={events.data?.next_cursor} parameter="events" />
    </div>
  );
}

const OF_USER: Column<SecurityEvent> = {
  id: 'user',
  title: t('User'),
  render: ({ user_id }) => <UserLink id={user_id} />,
};

const COLUMNS: readonly Column<SecurityEvent>[] = [
  timeColumn('time', t('Time')),
  {
    id: 'type',
    title: t('Event'),
    render: ({ type, severity }) => (
      <span class="badges">
        {type}
        {severity !== 'info' && <Badge tone={TONES[severity] ?? 'plain'}>{severity}</Badge>}
      </span>
    ),
  },
  {
    id: 'actor',
    title: t('By'),
    render: ({ actor }) => (actor ? <Actor kind={actor.kind} id={actor.id} /> : '–'),
  },
  { id: 'ip', title: t('IP address'), render: ({ ip }) => ip || '–' },
  {
    id: 'data',
    title: t('Details'),
    width: 'wrap',
    render: ({ data }) => <Details of={data} />,
  },
];

/** The user, key or process that caused an event. */
export function Actor({ kind, id }: { kind: string; id: string | number | null }) {
  if (kind === 'user') return <UserLink id={id} />;
  if (id === null) return <>{t(kind)}</>;
  return (
    <>
      {kind === 'api_key' ? t('key') : kind} {id}
    </>
  );
}

/** Names and values on one line; a value that is no text as JSON. */
export function Details({ of }: { of: unknown }) {
  if (typeof of !== 'object' || of === null) return <>{of == null ? '–' : String(of)}</>;
  const entries = Object.entries(of);
  if (entries.length === 0) return <>–</>;
  return (
    <span class="details">
      {entries.map(([name, value]) => (
        <span key={name}>
          <span class="quiet">{name}</span> {textOf(value)}
        </span>
      ))}
    </span>
  );
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
