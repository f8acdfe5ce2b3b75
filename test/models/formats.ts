import type { Ajv2020 } from 'ajv/dist/2020.js';

const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** The formats that a grammar keeps, checked in another way than by a grammar. */
export function addFormats(ajv: Ajv2020): Ajv2020 {
  const isDate = (text: string) =>
    DATE.test(text) && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text);
  ajv.addFormat('date', isDate);
  ajv.addFormat('date-time', (text: string) => {
    const [date = '', time = ''] = text.split('T');
    return isDate(date) && TIME.test(time);
  });
  ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  return ajv;
}
