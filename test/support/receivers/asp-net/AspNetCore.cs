// Replaces ASP.NET Core, which Debian lacks: the classes that the documented receiver uses, with the same names and
// signatures, for Mono.

using System;
using System.IO;
using System.Net;
using System.Threading.Tasks;

namespace Microsoft.AspNetCore.Http
{
    public delegate Task RequestDelegate(HttpContext context);

    public sealed class HttpContext
    {
        public HttpContext(HttpListenerContext inner)
        {
            Request = new HttpRequest(inner.Request);
            Response = new HttpResponse(inner.Response);
        }

        public HttpRequest Request { get; }
        public HttpResponse Response { get; }
    }

    public sealed class HttpRequest
    {
        public HttpRequest(HttpListenerRequest inner)
        {
            Body = inner.InputStream;
            Headers = new HeaderDictionary(inner.Headers);
        }

        public Stream Body { get; }
        public HeaderDictionary Headers { get; }
    }

    public sealed class HeaderDictionary
    {
        readonly System.Collections.Specialized.NameValueCollection all;

        public HeaderDictionary(System.Collections.Specialized.NameValueCollection all)
        {
            this.all = all;
        }

        public string this[string name] => all[name] ?? "";
    }

    public sealed class HttpResponse
    {
        readonly HttpListenerResponse inner;

        public HttpResponse(HttpListenerResponse inner)
        {
            this.inner = inner;
        }

        public int StatusCode
        {
            get { return inner.StatusCode; }
            set { inner.StatusCode = value; }
        }
    }
}

namespace Microsoft.AspNetCore.Builder
{
    using Microsoft.AspNetCore.Http;

    public sealed class WebApplicationBuilder
    {
        public WebApplication Build() => new WebApplication();
    }

    public sealed class WebApplication
    {
        string path;
        RequestDelegate handler;

        public static WebApplicationBuilder CreateBuilder(string[] args) => new WebApplicationBuilder();

        public void MapPost(string pattern, RequestDelegate requestDelegate)
        {
            path = pattern;
            handler = requestDelegate;
        }

        public void Run(string url)
        {
            var listener = new HttpListener();
            listener.Prefixes.Add(url + "/");
            listener.Start();
            while (true)
            {
                var context = listener.GetContext();
                if (context.Request.HttpMethod != "POST") context.Response.StatusCode = 405;
                else if (context.Request.Url.AbsolutePath != path) context.Response.StatusCode = 404;
                else handler(new HttpContext(context)).Wait();
                context.Response.Close();
            }
        }
    }
}
