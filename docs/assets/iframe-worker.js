/* A browser starts no worker for a page that was opened from the disk, and the search is one.
   There its script runs in a hidden frame instead, with the same two calls: messages in, messages out. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.tell(new MessageEvent("message", { data }));
      inside.importScripts = () => {};
      const script = inside.document.createElement("script");
      script.src = new URL(url, location.href);
      script.onload = () => this.start();
      inside.document.body.append(script);
    }
    tell(event) {
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }
    start() {
      const waiting = this.waiting;
      this.waiting = null;
      waiting.forEach((data) => this.postMessage(data));
    }
    postMessage(data) {
      if (this.waiting) return void this.waiting.push(data);
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
