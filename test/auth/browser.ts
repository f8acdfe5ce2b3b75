/** A browser of sorts: a cookie jar for each origin, and redirects followed by hand. */
export interface Browser {
  /** Requests and keeps cookies; does not follow. */
  visit(url: string, form?: Readonly<Record<string, string>>): Promise<Response>;
  /** Follows redirects until an address starts with `stop`. @returns that address. */
  follow(
    url: string,
    stop: string,
    submit?: (
      html: string,
      url: string,
    ) => { action: string; form: Record<string, string> | null } | null,
  ): Promise<URL>;
  readonly cookies: Map<string, string>;
}

export function openBrowser(): Browser {
  const cookies = new Map<string, string>();
  const visit: Browser['visit'] = async (url, form) => {
    const { origin } = new URL(url);
    const header = [...cookies]
      .filter(([name]) => name.startsWith(`${origin} `))
      .map(([name, value]) => `${name.split(' ')[1]}=${value}`)
      .join('; ');
    const response = await fetch(url, {
      method: form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { ...(header && { Cookie: header }) },
      ...(form && { body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const [name = '', value = ''] = [
        pair.slice(0, pair.indexOf('=')),
        pair.slice(pair.indexOf('=') + 1),
      ];
      if (value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(line))
        cookies.delete(`${origin} ${name}`);
      else cookies.set(`${origin} ${name}`, value);
    }
    return response;
  };
  return {
    visit,
    cookies,
    follow: async (start, stop, submit) => {
      let url = start;
      let form: Record<string, string> | undefined;
      for (let hops = 0; hops < 20; hops += 1) {
        if (url.startsWith(stop)) return new URL(url);
        const response = await visit(url, form);
        form = undefined;
        const location = response.headers.get('location');
        if (location) url = new URL(location, url).href;
        else {
          const html = await response.text();
          const next = submit?.(html, url);
          if (!next)
            throw new Error(`no way on from ${url}: ${response.status} ${html.slice(0, 300)}`);
          ({ action: url, form } = {
            action: new URL(next.action, url).href,
            form: next.form ?? undefined,
          });
        }
      }
      throw new Error('too many redirects');
    },
  };
}
