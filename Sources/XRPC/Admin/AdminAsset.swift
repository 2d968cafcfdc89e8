/// A file of the operator's page, as it was built into this program.
struct AdminAsset: Sendable {
    let type: String
    let body: [UInt8]

    /// By its path below `/_admin`; nil for what is none.
    static func named(_ path: Substring) -> AdminAsset? {
        switch path {
        case "/page.css": AdminAsset(type: "text/css; charset=utf-8", body: PackageResources.page_css)
        case "/page.js": AdminAsset(type: "text/javascript; charset=utf-8", body: PackageResources.page_js)
        case "/icon.svg": AdminAsset(type: "image/svg+xml", body: PackageResources.icon_svg)
        default: nil
        }
    }

    static var page: [UInt8] { PackageResources.page_html }

    /// - Parameter message: why it asks again; one of ours, without markup.
    static func form(saying message: String?) -> [UInt8] {
        let text = String(decoding: PackageResources.sign_in_html, as: UTF8.self)
        return [UInt8](text.replacing("<!-- message -->", with: message ?? "").utf8)
    }
}
