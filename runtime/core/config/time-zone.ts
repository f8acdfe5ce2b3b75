/** Whether a text is the IANA name of a time zone, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
