import { parseDocument } from 'yaml';

/**
 * A manifest with `database.managed` set; nothing else of its text changes where the value is
 * there already.
 *
 * @example setManaged('name: shop\n', false) // 'name: shop\ndatabase:\n  managed: false\n'
 */
export function setManaged(text: string, managed: boolean): string {
  const document = parseDocument(text);
  if (document.errors.length > 0) return text;
  const known = document.getIn(['database', 'managed']);
  if (known === managed || (known === undefined && managed)) return text;
  document.setIn(['database', 'managed'], managed);
  return document.toString({ lineWidth: 0 });
}
