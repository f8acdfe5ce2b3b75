/** https, or any scheme on this machine. */
export function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(?:\.\d{1,3}){3}$/.test(hostname)
  );
}

/** `https://app.example.com`: only scheme, host and port. */
export function isOrigin(text: string): boolean {
  return (
    URL.canParse(text) && new URL(text).origin === text.replace(/\/$/, '') && !text.endsWith('/')
  );
}

/** An IP address or a CIDR range. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, more] = text.split('/');
  const v4 =
    /^\d{1,3}(?:\.\d{1,3}){3}$/.test(address) &&
    address.split('.').every((part) => Number(part) <= 255);
  const v6 = address.includes(':') && URL.canParse(`http://[${address}]/`);
  const most = v4 ? 32 : 128;
  return (
    (v4 || v6) &&
    more === undefined &&
    (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most))
  );
}
