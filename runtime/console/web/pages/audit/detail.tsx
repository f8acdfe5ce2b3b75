import { base } from '../../address.ts';
import { t } from '../../messages.ts';
import type { Entry } from './entry.ts';

/** Longer values are not shown in the row itself, but in its details. */
const SHORT = 60;

/** The change in an entry: on one line, and in full when it is opened. */
export function Detail({ of }: { of: Entry }) {
  const { detail, request_id: request, at, id } = of;
  const line = lineOf(detail);
  return (
    <details class="audit-detail">
      <summary>{line === '' ? t('no fields') : line}</summary>
      <pre tabIndex={0}>{JSON.stringify(detail, null, 2)}</pre>
      <dl>
        <dt>{t('At')}</dt>
        <dd>{at}</dd>
        <dt>{t('Entry')}</dt>
        <dd>{id}</dd>
        {request !== '' && (
          <>
            <dt>{t('Request')}</dt>
            <dd>
              <a href={`${base}/logs?q=${encodeURIComponent(request)}`}>{request}</a>
            </dd>
          </>
        )}
      </dl>
    </details>
  );
}

function lineOf(detail: Entry['detail']): string {
  const { fields, ...values } = detail;
  const given = Object.entries(values).map(([name, value]) => `${name}: ${textOf(value)}`);
  const others = Array.isArray(fields) ? fields.filter((name) => !(String(name) in values)) : [];
  const line = [...given, ...(others.length > 0 ? [others.join(', ')] : [])].join(' · ');
  return line.length > SHORT * 2 ? `${line.slice(0, SHORT * 2)}…` : line;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
