import { useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button, RowButton } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { confirm } from '../../parts/confirm.tsx';
import { attempt } from '../../parts/notices.tsx';
import { Badge, Panel } from '../../parts/page.tsx';
import { actionsColumn, type Columns, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useCall } from '../../parts/use-call.ts';
import { KeyCreated, type NewKey, NewKeyDialog, RotateDialog, ScopesDialog } from './new-key.tsx';
import { ADMIN, type ApiKey, holdsAll, type User } from './shapes.ts';
import { UserLink } from './user-link.tsx';

/** What the user is doing with keys: a dialog is open, or a new key is shown. */
type Doing =
  | { readonly kind: 'new' }
  | { readonly kind: 'rotate' | 'scopes'; readonly key: ApiKey }
  | { readonly kind: 'created'; readonly made: NewKey };

/** The tab `API keys`, or those that act for one user. */
export function KeyList({ of }: { of?: User }) {
  const [doing, setDoing] = useState<Doing | null>(null);
  const asked = of === undefined ? '' : `?user_id=${encodeURIComponent(of.id)}`;
  const keys = useCall<{ api_keys: ApiKey[] }>(`${ADMIN}/api-keys${asked}`);
  const close = () => setDoing(null);
  const created = (made: NewKey) => {
    setDoing({ kind: 'created', made });
    keys.reload();
  };
  const mayMake = can('auth:manage') && holdsAll(of?.permissions);
  const make = mayMake && (
    <Button onClick={() => setDoing({ kind: 'new' })}>{t('New API key')}</Button>
  );
  return (
    <Panel name={of ? t('Keys that act for the user') : t('API keys')} tools={make}>
      <Table
        name={t('API keys')}
        columns={columnsOf(of === undefined, (key) => (
          <KeyActions key={key.id} of={key} open={setDoing} changed={keys.reload} />
        ))}
        rows={keys.data && keys.data.api_keys.toReversed()}
        of={keys}
        empty={[t('No API keys'), t('A key lets a program call the API, within its scopes.')]}
      />
      {doing?.kind === 'new' && (
        <NewKeyDialog close={close} created={created} {...(of && { user: of })} />
      )}
      {doing?.kind === 'rotate' && <RotateDialog of={doing.key} close={close} created={created} />}
      {doing?.kind === 'scopes' && (
        <ScopesDialog of={doing.key} close={close} changed={keys.reload} />
      )}
      {doing?.kind === 'created' && <KeyCreated made={doing.made} close={close} />}
    </Panel>
  );
}

function columnsOf(
  isOfAll: boolean,
  actions: (key: ApiKey) => preact.ComponentChildren,
): Columns<ApiKey> {
  return [
    {
      id: 'name',
      title: t('Name'),
      render: ({ name, prefix }) => (
        <span class="lines">
          {name || '–'}
          <code class="quiet">gk_{prefix}_…</code>
        </span>
      ),
      sort: ({ name }) => name,
    },
    { id: 'scopes', title: t('Scopes'), width: 'wrap', render: ({ scopes }) => scopes.join(', ') },
    isOfAll && {
      id: 'user',
      title: t('Acts for'),
      render: ({ user_id }: ApiKey) => <UserLink id={user_id} />,
    },
    { id: 'state', title: t('State'), render: (key) => <KeyState of={key} /> },
    {
      id: 'last_used_at',
      title: t('Last used'),
      render: ({ last_used_at, created_at }) => (
        <span class="lines">
          <Time at={last_used_at} />
          <span class="quiet">
            {t('created')} <Time at={created_at} />
          </span>
        </span>
      ),
      sort: ({ last_used_at, created_at }) => last_used_at ?? created_at,
    },
    can('auth:manage') && actionsColumn(actions),
  ];
}

function KeyState({ of: { revoked_at, expires_at } }: { of: ApiKey }) {
  if (revoked_at !== null) return <Badge>{t('revoked')}</Badge>;
  if (expires_at === null) return <Badge tone="good">{t('active')}</Badge>;
  const isOver = Date.parse(expires_at) <= Date.now();
  return isOver ? (
    <Badge>{t('expired')}</Badge>
  ) : (
    <span class="lines">
      <Badge tone="good">{t('active')}</Badge>
      <span class="quiet">
        {t('ends')} <Time at={expires_at} />
      </span>
    </span>
  );
}

interface KeyActionsProps {
  readonly of: ApiKey;
  open(doing: Doing): void;
  changed(): void;
}

/** The actions of a key. A caller may not change a key with a scope that they do not hold. */
function KeyActions({ of: key, open, changed }: KeyActionsProps) {
  if (key.revoked_at !== null || !holdsAll(key.scopes)) return null;
  const { id, name, scopes } = key;
  const revoke = async () => {
    const text = t('Programs that use the key “{name}” ({scopes}) are refused at once.', {
      name,
      scopes: scopes.join(', '),
    });
    if (!(await confirm({ text, action: t('Revoke') }))) return;
    if (await attempt(() => call('DELETE', `${ADMIN}/api-keys/${id}`), t('API key revoked')))
      changed();
  };
  return (
    <div class="buttons">
      <Button
        aria-label={t('Change scopes of {name}', { name })}
        onClick={() => open({ kind: 'scopes', key })}
      >
        {t('Scopes')}
      </Button>
      <RowButton verb={t('Rotate')} of={name} onClick={() => open({ kind: 'rotate', key })} />
      <RowButton class="danger" verb={t('Revoke')} of={name} onClick={revoke} />
    </div>
  );
}
