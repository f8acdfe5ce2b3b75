import { useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button, RowButton } from '../../parts/button.tsx';
import { textIn, Field } from '../../parts/field.tsx';
import { can } from '../../parts/can.ts';
import { confirm } from '../../parts/confirm.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { attempt } from '../../parts/notices.tsx';
import { Panel } from '../../parts/page.tsx';
import { actionsColumn, type Column, Table } from '../../parts/table.tsx';
import { type AppProps, routeOf } from './types.ts';

interface Domain {
  readonly host: string;
  readonly main: boolean;
}

/** The tab of an app's host names, and of the user's own certificate for them. */
export function DomainsTab({ app, reload }: AppProps) {
  const [open, setOpen] = useState<'add' | 'main' | 'certificate' | null>(null);
  const close = () => setOpen(null);
  const writes = can('apps:write');
  const change = (body: object) => call('PATCH', routeOf(app.name), body);
  const remove = async (host: string) => {
    const text = t('{host} no longer leads to {name}.', { host, name: app.name });
    if (!(await confirm({ text, action: t('Remove') }))) return;
    const aliases = app.aliases.filter((each) => each !== host);
    if (await attempt(() => change({ aliases }), t('{host} is removed', { host }))) reload();
  };
  const save = (body: object) => change(body).then(() => t('Domains saved'));
  return (
    <Panel
      name={t('Host names')}
      tools={
        writes && (
          <>
            <Button onClick={() => setOpen('add')}>{t('Add domain')}</Button>
            <Button onClick={() => setOpen('main')}>{t('Change main domain')}</Button>
            <Button onClick={() => setOpen('certificate')}>{t('Own certificate')}</Button>
          </>
        )
      }
    >
      <Table
        name={t('Domains')}
        columns={columnsOf(app.url, writes ? remove : null)}
        rows={[
          ...(app.domain === null ? [] : [{ host: app.domain, main: true }]),
          ...app.aliases.map((host) => ({ host, main: false })),
        ]}
        keyOf={({ host }) => host}
      />
      <p class="quiet">
        {t('Point the name to this server. It fetches a certificate with the first https request.')}
      </p>
      {open === 'add' && (
        <DomainDialog
          title={t('Add domain')}
          {...{ close, saved: reload }}
          save={(domain) => save({ aliases: [...app.aliases, domain] })}
        />
      )}
      {open === 'main' && (
        <DomainDialog
          title={t('Change main domain')}
          {...{ close, saved: reload }}
          given={app.domain ?? ''}
          save={(domain) => save({ domain })}
        />
      )}
      {open === 'certificate' && <CertificateDialog name={app.name} close={close} />}
    </Panel>
  );
}

function columnsOf(
  url: string | null,
  remove: ((host: string) => Promise<void>) | null,
): readonly Column<Domain>[] {
  return [
    {
      id: 'host',
      title: t('Domain'),
      render: ({ host }) =>
        host.startsWith('*') ? (
          host
        ) : (
          <a href={addressOf(url, host)} target="_blank" rel="noopener noreferrer">
            {host}
          </a>
        ),
    },
    { id: 'kind', title: t('Kind'), render: ({ main }) => (main ? t('main') : t('alias')) },
    actionsColumn(
      ({ host, main }) =>
        !main && remove && <RowButton verb={t('Remove')} of={host} onClick={() => remove(host)} />,
    ),
  ];
}

/** The scheme and port of the main domain. */
function addressOf(url: string | null, host: string): string {
  if (url === null) return `http://${host}`;
  const address = new URL(url);
  address.hostname = host;
  return address.href;
}

interface DomainDialogProps {
  readonly title: string;
  readonly given?: string;
  save(domain: string): Promise<string>;
  close(): void;
  saved(): void;
}

const DomainDialog = ({ title, given = '', save, close, saved }: DomainDialogProps) => (
  <FormDialog
    {...{ title, close, saved }}
    action={t('Save')}
    submit={(form) => save(textIn(form, 'domain'))}
  >
    <Field
      label={t('Domain')}
      name="domain"
      required
      autofocus
      spellcheck={false}
      defaultValue={given}
      placeholder="shop.example.com"
    />
  </FormDialog>
);

function CertificateDialog({ name, close }: { name: string; close: () => void }) {
  const submit = async (form: FormData) => {
    const body = { certificate: textIn(form, 'certificate'), key: textIn(form, 'key') };
    await call('PUT', `${routeOf(name)}/certificate`, body);
    return t('The certificate is used');
  };
  return (
    <FormDialog
      title={t('Own certificate')}
      action={t('Use certificate')}
      size="wide"
      {...{ close, submit }}
    >
      <Field label={t('Certificate')} name="certificate" required hint={t('PEM, with its chain')}>
        {(it) => <textarea {...it} rows={5} spellcheck={false} class="code" />}
      </Field>
      <Field label={t('Private key')} name="key" required hint={t('PEM. It is sealed.')}>
        {(it) => <textarea {...it} rows={5} spellcheck={false} class="code" />}
      </Field>
    </FormDialog>
  );
}
