import { t } from '../messages.ts';

/** A value of a row as text. Null and a refused value look different from an empty text. */
export function Cell({ value }: { value: unknown }) {
  if (value === undefined) return <i class="quiet">{t('no access')}</i>;
  if (value === null) return <i class="quiet">NULL</i>;
  if (typeof value === 'object') return <code>{JSON.stringify(value)}</code>;
  return <>{String(value)}</>;
}
