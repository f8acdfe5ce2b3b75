import type { ColumnType } from '../model.ts';

/** A moment as rows have it, in UTC; undefined when the text is none. */
export function moment(type: ColumnType, text: string): string | undefined {
  if (type === 'timestamp')
    return Number.isNaN(Date.parse(text)) ? undefined : new Date(text).toISOString();
  if (type === 'date') return /^\d{4}-\d\d-\d\d$/.test(text) ? text : undefined;
  return type === 'time' ? timeOfDay(text) : undefined;
}

const TIME = /^(\d\d:\d\d)(:\d\d)?(?:(\.\d*[1-9])0*|\.0+)?(Z|[+-]\d\d:\d\d)?$/i;

/** @example timeOfDay('12:00+02:00') // '10:00:00' */
function timeOfDay(text: string): string | undefined {
  const [, clock, seconds = ':00', fraction = '', offset = 'Z'] = TIME.exec(text) ?? [];
  const time = new Date(`1970-01-02T${clock}${seconds}${offset}`);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString().slice(11, 19) + fraction;
}
